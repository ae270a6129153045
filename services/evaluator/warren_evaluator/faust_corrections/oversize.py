"""What aiokafka and Faust raise for a record that is larger than its topic takes."""

from aiokafka.errors import MessageSizeTooLargeError


def is_oversize(error: BaseException) -> bool:
    """Faust wraps what the client finds before anything is sent."""
    return isinstance(error, MessageSizeTooLargeError) or isinstance(
        error.__cause__, MessageSizeTooLargeError
    )
