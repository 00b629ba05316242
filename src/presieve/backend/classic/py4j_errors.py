# SPDX-License-Identifier: Apache-2.0
"""Trusted. Call the JVM over py4j, and turn its errors into ours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar
from weakref import WeakKeyDictionary

from py4j.java_gateway import JavaClass, JavaMember, JavaPackage
from py4j.protocol import Py4JError

from presieve.backend.gateway import GatewayError, Handle
from presieve.backend.session.spark_errors import guarding

P = ParamSpec("P")
T = TypeVar("T")


def translate_errors(call: Callable[P, T]) -> Callable[P, T]:
    """Turn errors of py4j and of Spark into :class:`GatewayError`, with their first line."""
    return guarding(Py4JError)(call)


class Inquirer(Protocol):
    """Something that keeps the answers to its questions, and the questions with them."""

    answers: dict[tuple[object, ...], Any]


S = TypeVar("S", bound=Inquirer)


def ask_once(question: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Keep the answers of a method for the same arguments. Objects of the JVM are told apart by the
    numbers that py4j gives them, each of which it gives once.
    """

    @wraps(question)
    def answer(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        numbers = (getattr(argument, "_target_id", argument) for argument in args)
        key = (question.__name__, *numbers, *kwargs.items())
        if key not in self.answers:
            self.answers[key] = question(self, *args, **kwargs)
        value: T = self.answers[key]
        return value

    return answer


def java_class(jvm: Handle, name: str) -> Handle:
    """Return a class of the JVM, which is looked up once. Raises :class:`GatewayError` if there is
    none.
    """
    classes = _classes.setdefault(jvm, {})
    if name in classes:
        return classes[name]
    member = jvm
    for part in name.split("."):
        member = getattr(member, part)
    if isinstance(member, JavaPackage) or not isinstance(member, JavaClass):
        raise GatewayError(f"this Spark has no {name}")
    classes[name] = member
    return member


def java_method(jvm: Handle, name: str, method: str) -> Handle:
    """Return a static method of a class, which is looked up once."""
    methods = _methods.setdefault(jvm, {})
    if (name, method) not in methods:
        methods[name, method] = getattr(java_class(jvm, name), method)
    return methods[name, method]


def java_constant(jvm: Handle, name: str, method: str, *arguments: Handle) -> Handle:
    """Return the value of a static method, which is called once and always with the same constant
    arguments.
    """
    constants = _constants.setdefault(jvm, {})
    if (name, method) not in constants:
        constants[name, method] = java_method(jvm, name, method)(*arguments)
    return constants[name, method]


def java_module(jvm: Handle, name: str) -> Handle:
    """Return an object of Scala (``object``), which is looked up once."""
    modules = _modules.setdefault(jvm, {})
    if name not in modules:
        modules[name] = getattr(java_class(jvm, f"{name}$"), "MODULE$")
    return modules[name]


_classes: WeakKeyDictionary[Handle, dict[str, Handle]] = WeakKeyDictionary()
_methods: WeakKeyDictionary[Handle, dict[tuple[str, str], Handle]] = WeakKeyDictionary()
_constants: WeakKeyDictionary[Handle, dict[tuple[str, str], Handle]] = WeakKeyDictionary()
_modules: WeakKeyDictionary[Handle, dict[str, Handle]] = WeakKeyDictionary()

_FEW = 4
"""Maximum length of lists that are built by the constructor ``::``, with a call for each item. The
other way takes a call for each item, too, and four more.
"""


def to_seq(jvm: Handle, items: Iterable[object]) -> Handle:
    """Make a ``Seq`` of the JVM."""
    all_items = list(items)
    if len(all_items) > _FEW:
        return java_method(jvm, "org.apache.spark.api.python.PythonUtils", "toSeq")(all_items)
    sequence = java_module(jvm, "scala.collection.immutable.Nil")
    for item in reversed(all_items):
        sequence = getattr(sequence, "$colon$colon")(item)
    return sequence


def to_array(gateway: Handle, items: Iterable[object]) -> Handle:
    """Make an array of objects of the JVM, of which ``gateway`` is py4j's."""
    all_items = list(items)
    array = gateway.new_array(gateway.jvm.java.lang.Object, len(all_items))
    for number, item in enumerate(all_items):
        array[number] = item
    return array


def each(sequence: Handle) -> Iterator[Handle]:
    """Iterate over the members of a ``Seq`` of the JVM."""
    return (sequence.apply(i) for i in range(int(sequence.size())))


def members(items: Handle) -> Iterator[Handle]:
    """Iterate over the members of a ``List`` of the JVM. Iterating over it as in Python ends with
    an error of the JVM, which takes ten milliseconds.
    """
    return (items.get(i) for i in range(int(items.size())))


_CLASSES = "z:org.apache.commons.lang3.ClassUtils"
"""Static methods on classes, as py4j addresses them. Its class need not be looked up."""


def class_name(java_object: Handle) -> str:
    """Return the full class name of an object of the JVM, by one call."""
    return str(JavaMember("getName", None, _CLASSES, java_object._gateway_client)(java_object))


def simple_class(java_object: Handle) -> str:
    """Return the class name of an object of the JVM, without its package."""
    client = java_object._gateway_client
    return str(JavaMember("getSimpleName", None, _CLASSES, client)(java_object))
