"""Faust's connection to Kafka, with a consumer thread that can be stopped after it ended."""

from __future__ import annotations

from faust.transport.drivers import aiokafka


class SafeConsumerThread(aiokafka.AIOKafkaConsumerThread):
    """A thread whose stop is no error when it has already ended.

    A crash anywhere in the worker ends this thread too, which closes its event loop. mode 0.7 then
    stops the thread from outside: too late for the loop, and reported as a second crash.
    """

    def _stopped_set(self) -> None:
        try:
            super()._stopped_set()
        except RuntimeError:
            if not self.thread_loop.is_closed():
                raise
            self._stopped.set()


class SafeConsumer(aiokafka.Consumer):
    """Uses `SafeConsumerThread`."""

    def _new_consumer_thread(self) -> SafeConsumerThread:
        return SafeConsumerThread(self, loop=self.loop, beacon=self.beacon)


class SafeTransport(aiokafka.Transport):
    """Uses `SafeConsumer`."""

    Consumer = SafeConsumer
