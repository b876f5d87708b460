#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What tests/sock/hostile.bats does with sockets: hostile.py WORD ARGUMENT...
import errno
import os
import resource
import selectors
import socket
import sys
import threading
import time

from kinds import VQP, background, errno_of, eventually, family_of, listener, make

FILES = 200000


def files():
    """A function may have as many as its operator lets it."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, FILES))


def requests(address, port, seconds):
    """A request and its answer for so long; prints how often."""
    s = make()
    s.connect((address, int(port)))
    end = time.monotonic() + float(seconds)
    n = 0
    while time.monotonic() < end:
        s.sendall(b"x" * 64)
        assert len(s.recv(64, socket.MSG_WAITALL)) == 64
        n += 1
    print(n)


def opens(count):
    """So many sockets, or as many as there is memory for; in the background."""
    files()
    ready = background()
    kept = []
    try:
        for _ in range(int(count)):
            kept.append(make())
    except OSError as e:
        assert e.errno in (errno.ENOMEM, errno.ENOBUFS, errno.ENFILE, errno.EMFILE), e
    ready()
    threading.Event().wait()


def reads_none(address, port):
    """Accept all connections, and read nothing."""
    files()
    ready = background()
    l = listener(address, port, VQP)
    l.listen(4096)
    ready()
    kept = []
    while True:
        kept.append(l.accept())


def connects(address, port, count, filled):
    """Connect so often; in the background, once the file `filled` is there, send on each as much as it takes. It is
    renamed then."""
    files()
    kept = []
    for _ in range(int(count)):
        s = make()
        s.connect((address, int(port)))
        s.setblocking(False)
        kept.append(s)
    background()()
    eventually(lambda: os.path.exists(filled))
    taken = True
    while taken:
        taken = False
        for s in kept:
            taken |= errno_of(s.send, bytes(65536)) is None
        # what was read, or not, is told in a moment
        time.sleep(0.2)
    os.rename(filled, filled + ".done")
    threading.Event().wait()


def floods(address, port):
    """In the background: connect as fast as can be, by 16 threads, and let go at once."""
    files()
    background()()

    def flood():
        while True:
            s = socket.socket(family_of(address), socket.SOCK_STREAM, VQP)
            # what is refused connects by TCP, which has no room either
            s.settimeout(0.01)
            errno_of(s.connect, (address, int(port)))
            s.close()

    for _ in range(16):
        threading.Thread(target=flood, daemon=True).start()
    threading.Event().wait()


def closes(address, port):
    """Accept, read up to the end, and close."""
    ready = background()
    l = listener(address, port, VQP)
    l.listen(4096)
    ready()
    events = selectors.DefaultSelector()
    events.register(l, selectors.EVENT_READ)
    while True:
        for key, _ in events.select():
            if key.fileobj is l:
                s, _ = l.accept()
                s.setblocking(False)
                events.register(s, selectors.EVENT_READ)
            else:
                errno_of(key.fileobj.recv, 1)
                events.unregister(key.fileobj)
                key.fileobj.close()


globals()[sys.argv[1]](*sys.argv[2:])
