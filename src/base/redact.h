// Redaction: what looks like a secret is replaced by "***" before it is stored. Pure functions.
//
// It errs on the side of hiding, and it is a net, not a promise: a password with an innocent name and no known shape
// passes. Known shapes: AWS access keys, GitHub, GitLab, Slack, OpenAI-style, Hugging Face and Google API keys, JSON
// web tokens, PEM private keys, bearer headers, passwords in URLs.
#ifndef WF_BASE_REDACT_H_
#define WF_BASE_REDACT_H_

#include <string>
#include <string_view>
#include <vector>

namespace wf::base {

// Whether a value under this name is taken for a secret: "DB_PASSWORD", "apiKey", "hf-token"; but not "tokenizer",
// "max_tokens", "author".
bool IsSecretName(std::string_view name);

// `text` with every known key shape replaced by "***", and with the values of JSON members and of name=value pairs that
// have a secret name. What stands around them is kept: "postgres://me:***@db/x".
std::string RedactText(std::string_view text);

// The JSON text of a parameter: "\"***\"" when its name is a secret one, else RedactText of it.
std::string RedactParam(std::string_view name, std::string_view json);

// A command line: --password=x, --password x, --param api_key=x, and every known shape.
std::vector<std::string> RedactArgv(const std::vector<std::string>& argv);

}  // namespace wf::base

#endif  // WF_BASE_REDACT_H_
