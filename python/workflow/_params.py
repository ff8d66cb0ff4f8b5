"""Parameters of a workflow: from text or from a file to what its signature says."""

from __future__ import annotations

import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Union

from workflow._text import location, near, shorten
from workflow.errors import ParameterError, ParameterTypeError

__all__ = ["bind", "document", "from_text", "read_file", "signature_of"]

_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")
_SCALARS = (bool, int, float, str, bytes)
_ABSTRACT = ("Sequence", "MutableSequence", "Iterable", "Collection", "Mapping", "MutableMapping", "Set")
_MAX_STORED = 500  # characters of one parameter in the store


def signature_of(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with its annotations resolved where they can be."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # names that exist only for type checkers
        return inspect.signature(function)


def from_text(
    workflow: str, function: Callable[..., Any], texts: Mapping[str, str], values: Mapping[str, Any]
) -> dict[str, Any]:
    """Keyword arguments for `function`: `values` (of a parameter file), overridden by `texts` (``--param``)."""
    signature = signature_of(function)
    known = _named(signature)
    _check_names(workflow, function, signature, [*values, *texts])
    arguments: dict[str, Any] = {}
    for name, value in values.items():
        if name not in texts:
            arguments[name] = _guarded(workflow, function, name, known.get(name), value, _coerce)
    for name, text in texts.items():
        arguments[name] = _guarded(workflow, function, name, known.get(name), text, _parse)
    _check_missing(workflow, function, signature, arguments)
    return arguments


def bind(
    workflow: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """The arguments of a call, checked: unknown and missing names, and scalars of the wrong type."""
    signature = signature_of(function)
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        _check_names(workflow, function, signature, list(kwargs))
        raise ParameterTypeError(
            f"{location(function)}: workflow '{workflow}': {error}; it takes {_shape(signature)}"
        ) from None
    for name, value in bound.arguments.items():
        parameter = signature.parameters[name]
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if not _scalar_fits(value, parameter.annotation):
            raise ParameterTypeError(
                f"{location(function)}: workflow '{workflow}': parameter '{name}' is "
                f"{_show_type(parameter.annotation)}, got the {type(value).__name__} {shorten(repr(value), 80)}"
            )
    return bound


def document(bound: inspect.BoundArguments) -> dict[str, str]:
    """Each parameter as JSON text, for the store; what is no JSON is shown by its type and beginning."""
    filled = inspect.BoundArguments(bound.signature, bound.arguments.copy())
    filled.apply_defaults()
    return {name: _json(value) for name, value in filled.arguments.items()}


def read_file(path: Path) -> dict[str, Any]:
    """Parameters from a .json or .toml file: a table of names."""
    from workflow._config import read_toml
    from workflow.errors import ConfigError

    if path.suffix == ".toml":
        try:
            return read_toml(path)
        except ConfigError as error:
            raise ParameterError(f"--params {error}") from None
    if path.suffix != ".json":
        raise ParameterError(f"--params {path}: the name must end in .json or .toml")
    try:
        found = json.loads(path.read_bytes())
    except OSError as error:
        raise ParameterError(f"--params {path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ParameterError(f"--params {path}: not JSON: {error}") from None
    if not isinstance(found, dict):
        raise ParameterError(f"--params {path}: holds a {type(found).__name__}; an object {{name: value}} is needed")
    return found


def _named(signature: inspect.Signature) -> dict[str, inspect.Parameter]:
    return {
        name: parameter
        for name, parameter in signature.parameters.items()
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
    }


def _check_names(workflow: str, function: Any, signature: inspect.Signature, names: list[str]) -> None:
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in signature.parameters.values()):
        return
    known = _named(signature)
    for name in names:
        if name not in known:
            raise ParameterError(
                f"{location(function)}: workflow '{workflow}' has no parameter '{name}'{near(name, known) or '.'} "
                f"It takes {_shape(signature)}"
            )


def _check_missing(workflow: str, function: Any, signature: inspect.Signature, given: Mapping[str, Any]) -> None:
    missing = [
        name
        for name, parameter in _named(signature).items()
        if parameter.default is parameter.empty and name not in given
    ]
    if missing:
        flags = " ".join(f"--param {name}=…" for name in missing)
        raise ParameterError(
            f"{location(function)}: workflow '{workflow}' needs {', '.join(map(repr, missing))}; give {flags}"
        )


def _shape(signature: inspect.Signature) -> str:
    if not signature.parameters:
        return "no parameters"
    return str(signature.replace(return_annotation=inspect.Signature.empty))


def _show_type(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")


def _guarded(
    workflow: str, function: Any, name: str, parameter: inspect.Parameter | None, value: Any, convert: Any
) -> Any:
    annotation = inspect.Parameter.empty if parameter is None else parameter.annotation
    if annotation is inspect.Parameter.empty and parameter is not None and isinstance(parameter.default, _SCALARS):
        annotation = type(parameter.default)  # the default says what it is
    try:
        return convert(value, annotation)
    except Exception as error:
        reason = f": {error}" if isinstance(error, _Unfit) and str(error) else ""
        raise ParameterTypeError(
            f"{location(function)}: workflow '{workflow}': parameter '{name}' is {_show_type(annotation)}, which "
            f"{shorten(repr(value), 80)} is not{reason}"
        ) from None


class _Unfit(ValueError):
    """The value is not of the type; the text says more, if there is more to say."""


def _is_union(origin: Any) -> bool:
    return origin is Union or origin is types.UnionType


# --- text --------------------------------------------------------------------------------------------------------


def _parse(text: str, annotation: Any) -> Any:
    """The value that `text` stands for where `annotation` is asked for."""
    if annotation in (inspect.Parameter.empty, Any, object, str) or isinstance(annotation, (str, typing.TypeVar)):
        return text
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _parse(text, typing.get_args(annotation)[0])
    if _is_union(origin):
        return _parse_union(text, typing.get_args(annotation))
    if origin is typing.Literal:
        return _one_of(text, typing.get_args(annotation))
    target = origin or annotation
    if target is bool:
        return _parse_bool(text)
    if target in (int, float):
        return target(text)
    if target is bytes:
        return text.encode()
    if isinstance(target, type) and issubclass(target, enum.Enum):
        return _parse_enum(text, target)
    if isinstance(target, type) and issubclass(target, Path):
        return target(text)
    if _is_container(target):
        return _parse_container(text, annotation)
    return _parse_other(text, target)


def _parse_bool(text: str) -> bool:
    lower = text.strip().lower()
    if lower in _TRUE or lower in _FALSE:
        return lower in _TRUE
    raise _Unfit("true or false is needed")


def _parse_union(text: str, members: tuple[Any, ...]) -> Any:
    if type(None) in members and text.strip().lower() in ("none", "null", ""):
        return None
    # The most particular first: every text is a str, and every int is a float.
    order = [bool, int, float]
    rest = [member for member in members if member not in (*order, str, type(None))]
    candidates = [*rest, *(kind for kind in order if kind in members), *(kind for kind in (str,) if kind in members)]
    for candidate in candidates:
        if candidate is bool and text.strip() in ("0", "1") and int in members:
            continue
        try:
            return _parse(text, candidate)
        except Exception:
            continue
    raise _Unfit()


def _one_of(text: str, choices: tuple[Any, ...]) -> Any:
    for choice in choices:
        shown = choice.name if isinstance(choice, enum.Enum) else str(choice)
        if text == shown:
            return choice
    raise _Unfit(f"one of {', '.join(map(str, choices))} is needed{near(text, map(str, choices))}")


def _parse_enum(text: str, target: type[enum.Enum]) -> enum.Enum:
    if text in target.__members__:
        return target[text]
    for member in target:
        if str(member.value) == text or member.name.lower() == text.lower():
            return member
    raise _Unfit(f"one of {', '.join(target.__members__)} is needed{near(text, target.__members__)}")


def _is_container(target: Any) -> bool:
    return isinstance(target, type) and (
        issubclass(target, (list, tuple, set, frozenset, dict))
        or (target.__module__ == "collections.abc" and target.__name__ in _ABSTRACT)
    )


def _parse_container(text: str, annotation: Any) -> Any:
    target = typing.get_origin(annotation) or annotation
    stripped = text.strip()
    mapping = issubclass(target, Mapping)
    if mapping or stripped.startswith("["):
        try:
            value = json.loads(stripped)
        except ValueError as error:
            raise _Unfit(f"JSON is needed: {error}") from None
        return _coerce(value, annotation)
    members = [part.strip() for part in stripped.split(",")] if stripped else []
    arguments = typing.get_args(annotation)
    if target is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(members) != len(arguments):
            raise _Unfit(f"{len(arguments)} members are needed")
        return tuple(_parse(member, kind) for member, kind in zip(members, arguments, strict=True))
    kind = arguments[0] if arguments else str
    made = [_parse(member, kind) for member in members]
    return target(made) if target in (tuple, set, frozenset) else made


def _parse_other(text: str, target: Any) -> Any:
    if not isinstance(target, type):
        return text
    from_iso = getattr(target, "fromisoformat", None)
    return from_iso(text) if callable(from_iso) else target(text)


# --- values of a JSON or TOML file -------------------------------------------------------------------------------


def _coerce(value: Any, annotation: Any) -> Any:
    """`value`, as a file can hold it, as what `annotation` says."""
    if annotation in (inspect.Parameter.empty, Any, object) or isinstance(annotation, (str, typing.TypeVar)):
        return value
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _coerce(value, typing.get_args(annotation)[0])
    if _is_union(origin):
        return _coerce_union(value, typing.get_args(annotation))
    if origin is typing.Literal:
        if value in typing.get_args(annotation):
            return value
        raise _Unfit(f"one of {', '.join(map(str, typing.get_args(annotation)))} is needed")
    target = origin or annotation
    if target is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if target in _SCALARS:
        if isinstance(value, target) and (target is bool or not isinstance(value, bool)):
            return value
        raise _Unfit()
    if _is_container(target):
        return _coerce_container(value, target, typing.get_args(annotation))
    if isinstance(target, type) and isinstance(value, target):
        return value
    if isinstance(value, str):
        return _parse(value, annotation)
    if isinstance(target, type) and issubclass(target, enum.Enum):
        return target(value)
    raise _Unfit()


def _coerce_union(value: Any, members: tuple[Any, ...]) -> Any:
    if value is None and type(None) in members:
        return None
    exact = [member for member in members if member is type(value)]
    for member in (*exact, *members):
        try:
            return _coerce(value, member)
        except Exception:
            continue
    raise _Unfit()


def _coerce_container(value: Any, target: Any, arguments: tuple[Any, ...]) -> Any:
    if issubclass(target, Mapping):
        if not isinstance(value, dict):
            raise _Unfit("an object is needed")
        if len(arguments) != 2:
            return value
        return {_parse(key, arguments[0]): _coerce(member, arguments[1]) for key, member in value.items()}
    if not isinstance(value, list):
        raise _Unfit("a list is needed")
    if target is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(value) != len(arguments):
            raise _Unfit(f"{len(arguments)} members are needed")
        return tuple(_coerce(member, kind) for member, kind in zip(value, arguments, strict=True))
    kind = arguments[0] if arguments else Any
    made = [_coerce(member, kind) for member in value]
    return target(made) if target in (tuple, set, frozenset) else made


# --- values that a caller passed ---------------------------------------------------------------------------------


def _scalar_fits(value: Any, annotation: Any) -> bool:
    """False only for a built-in scalar where another one was asked for: other types may stand in for what they like."""
    if annotation not in _SCALARS or type(value) not in (*_SCALARS, type(None), list, dict, tuple, set):
        return True
    if isinstance(value, annotation):
        return True
    return annotation is float and isinstance(value, int)


def _json(value: Any) -> str:
    if isinstance(value, (list, tuple, dict, set, frozenset)) and len(value) > _MAX_STORED:
        return json.dumps(f"<{type(value).__name__} of {len(value)}>")
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_shown(value), ensure_ascii=False)
    return text if len(text) <= _MAX_STORED else json.dumps(shorten(text, _MAX_STORED), ensure_ascii=False)


def _shown(value: Any) -> str:
    if isinstance(value, (Path, enum.Enum)):
        return str(value)
    try:
        text = re.sub(r"\s+", " ", repr(value))
    except Exception as error:  # a repr of the user's that fails
        return f"<{type(value).__name__}, whose repr raises {type(error).__name__}>"
    return shorten(text, 200)
