"""The key of records that have an id or a name of their own: that."""

from warren.errors import ContractViolation


def record_id(key: bytes | None) -> str:
    """Raises ContractViolation when the key is not UTF-8."""
    try:
        return (key or b"").decode()
    except UnicodeDecodeError as error:
        raise ContractViolation(f"key is not UTF-8: {error}") from error


def require_id(of_key: str, of_value: str) -> None:
    """Raises ContractViolation where key and value are not of the same."""
    if of_key != of_value:
        raise ContractViolation("key and value name different ones")
