#include "base/redact.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace wf::base {
namespace {

using ::testing::ElementsAre;

TEST(Redact, SecretNamesAreFoundInEveryStyle) {
  for (const char* name : {"password", "DB_PASSWORD", "dbPassword", "passwd", "client-secret", "token", "hf_token",
                           "githubToken", "accesstoken", "api_key", "apiKey", "APIKEY", "aws.credentials",
                           "private_key", "auth", "Authorization", "aws_access_key_id", "--api-key"}) {
    EXPECT_TRUE(IsSecretName(name)) << name;
  }
}

TEST(Redact, InnocentNamesOfPipelinesStay) {
  for (const char* name : {"tokenizer", "max_tokens", "num_tokens", "token_limit", "token_ids", "pad_token", "author",
                           "authors", "key", "path", "epochs", "keyboard", "", "x", "passes", "tokens"}) {
    EXPECT_FALSE(IsSecretName(name)) << name;
  }
}

TEST(Redact, KnownShapesAreHiddenAndTheirSurroundingsKept) {
  // Built from pieces, so that scanners of the source do not take them for real ones.
  const std::string hexes = "0123456789abcdef0123456789abcdef0123";
  EXPECT_EQ(RedactText("key " + std::string("AKIA") + "IOSFODNN7EXAMPLE end"), "key *** end");
  EXPECT_EQ(RedactText("push with " + std::string("ghp_") + hexes + "."), "push with ***.");
  EXPECT_EQ(RedactText("at postgres://me:hunter2@db.local/x?y=1"), "at postgres://me:***@db.local/x?y=1");
  EXPECT_EQ(RedactText("s3://bucket/a:b@c"), "s3://bucket/a:b@c");
  EXPECT_EQ(RedactText("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl!"), "jwt ***!");
  EXPECT_EQ(RedactText("Authorization: Bearer abcdefghijklmnop"), "Authorization: Bearer ***");
}

TEST(Redact, PemPrivateKeysLoseTheirBodyAlsoWhenCutOff) {
  const std::string begin = std::string("-----BEGIN RSA PRIVATE") + " KEY-----";
  EXPECT_EQ(RedactText(begin + "\nMIIabc\n-----END RSA PRIVATE KEY-----\nafter"),
            begin + "***-----END RSA PRIVATE KEY-----\nafter");
  EXPECT_EQ(RedactText(begin + "\nMIIabc"), begin + "***");
  const std::string certificate = "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----";
  EXPECT_EQ(RedactText(certificate), certificate);
}

TEST(Redact, ParametersWithASecretNameStayValidJson) {
  EXPECT_EQ(RedactParam("api_key", "\"abc\""), "\"***\"");
  EXPECT_EQ(RedactParam("password", "12345"), "\"***\"");
  EXPECT_EQ(RedactParam("token", "null"), "null");
  EXPECT_EQ(RedactParam("path", "\"data.csv\""), "\"data.csv\"");
  EXPECT_EQ(RedactParam("db", R"({"user": "me", "password": "a\"b, c", "pin_secret": 42})"),
            R"({"user": "me", "password": "***", "pin_secret": "***"})");
  EXPECT_EQ(RedactParam("url", "\"postgres://me:x@h/d\""), "\"postgres://me:***@h/d\"");
}

TEST(Redact, CommandLinesHideValuesOfSecretOptions) {
  EXPECT_THAT(RedactArgv({"wf", "run", "p.py", "--password=a b", "--token", "abc", "--param", "api_key=xyz", "--param",
                          "path=d", "--token-file"}),
              ElementsAre("wf", "run", "p.py", "--password=***", "--token", "***", "--param", "api_key=***", "--param",
                          "path=d", "--token-file"));
}

TEST(Redact, PlainProseIsUntouched) {
  for (const char* text : {"", "ValueError: token: unexpected end", "12:30:01 step=3 loss=0.25", "x == 1", "a=", ":",
                           "=", "epochs: 3, author=Ann", "://", "http://host/path", "\"token\":", "eyJ", "sk-learn"}) {
    EXPECT_EQ(RedactText(text), text);
  }
}

TEST(Redact, NameValuePairsInTextAreHidden) {
  EXPECT_EQ(RedactText("connect user=me password=hunter2, retry=3"), "connect user=me password=***, retry=3");
}

}  // namespace
}  // namespace wf::base
