# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
"""Network paths with a delay: TCP proxies on the same machine, one for each path, in a thread of their own."""
import asyncio, collections, contextlib, dataclasses, random, threading


@dataclasses.dataclass(frozen=True)
class Path:
    """Seconds from the client to the server and back, and the most that chance adds to each piece."""
    there: float
    back: float
    jitter: float


def random_path(chance, delay_max=0.080, asymmetry_max=0.010, jitter=0.003):
    """A fixed delay each way from 0 to `delay_max`; the two ways differ by `asymmetry_max` at most."""
    there = chance.uniform(0, delay_max)
    return Path(there, min(max(there + chance.uniform(-asymmetry_max, asymmetry_max), 0), delay_max), jitter)


class DelayedPaths:
    """Listens on a port for each path and passes on what comes, late and in order. Use it in a `with`."""

    def __init__(self, host, port, paths, seed=0):
        self.ports = []
        self._target, self._paths = (host, port), paths
        self._chance = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._tasks = set()

    def __enter__(self):
        self._thread.start()
        try:
            self._call(self._listen())
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self):
        self._servers = []
        for path in self._paths:
            server = await asyncio.start_server(lambda r, w, path=path: self._connected(r, w, path), "127.0.0.1", 0)
            self._servers.append(server)
            self.ports.append(server.sockets[0].getsockname()[1])

    async def _close(self):
        for server in self._servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader, writer, path):
        task = asyncio.current_task()
        self._tasks.add(task)
        other = None
        try:
            other_reader, other = await asyncio.open_connection(*self._target)
            ways = [asyncio.create_task(self._pass_on(reader, other, path.there, path.jitter)),
                    asyncio.create_task(self._pass_on(other_reader, writer, path.back, path.jitter))]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            for each in (writer, other):
                if each is not None:
                    each.close()

    async def _pass_on(self, reader, writer, delay, jitter):
        """One way: each piece leaves `delay` and a bit after it came, and none before the one ahead of it."""
        waiting, arrived = collections.deque(), asyncio.Event()

        async def send():
            while True:
                await arrived.wait()
                arrived.clear()
                while waiting:
                    due, piece = waiting.popleft()
                    await asyncio.sleep(max(0, due - self._loop.time()))
                    writer.write(piece)
                    await writer.drain()

        sender = asyncio.create_task(send())
        last = 0
        try:
            while piece := await reader.read(65_536):
                last = max(last, self._loop.time() + delay + self._chance.uniform(0, jitter))
                waiting.append((last, piece))
                arrived.set()
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await sender
