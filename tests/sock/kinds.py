#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# What tests/sock/kinds.bats, rules.bats and hook.bats do with sockets: kinds.py WORD ARGUMENT...
import ctypes
import errno
import fcntl
import hashlib
import os
import resource
import select
import socket
import struct
import sys
import termios
import threading
import time

# what programs ask for by number; or what is said, which may be changed by the hook
VQP = int(os.environ.get("PROTOCOL", 258))
TIMEOUT = 60
TCP_ULP = 31
IP_MINTTL = 21
SO_BUSY_POLL = 46
EPIOCSPARAMS = 0x40088A01
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_ACCESS_NET_CONNECT_TCP = 2
PR_SET_NO_NEW_PRIVS = 38
libc = ctypes.CDLL(None, use_errno=True)


def make(family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_STREAM, VQP)
    s.settimeout(TIMEOUT)
    return s


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def errno_of(call, *args):
    """The name of the error that it fails with, or None."""
    try:
        call(*args)
    except OSError as e:
        return errno.errorcode[e.errno]
    return None


def eventually(what):
    end = time.monotonic() + TIMEOUT
    while not what():
        assert time.monotonic() < end
        time.sleep(0.01)


def dissolve(s):
    """connect(AF_UNSPEC), which Python has not."""
    unspec = ctypes.create_string_buffer(16)
    assert libc.connect(s.fileno(), unspec, 16) == 0, os.strerror(ctypes.get_errno())


def background():
    """Go on as a child, whose parent ends when `ready` is called. What it complains of goes to a file."""
    r, w = os.pipe()
    if os.fork():
        os.close(w)
        sys.exit(0 if os.read(r, 1) else 1)
    os.close(r)
    os.setsid()
    null = os.open("/dev/null", os.O_RDWR)
    for fd in 0, 1:
        os.dup2(null, fd)
    os.dup2(os.open("/run/vqp/background", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    return lambda: (os.write(w, b"1"), os.close(w))


def listener(address, port, protocol):
    s = socket.socket(family_of(address), socket.SOCK_STREAM, protocol)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((address, int(port)))
    s.listen(16)
    return s


def ends(address, port):
    """Both ends of a connection."""
    l = listener(address, port, VQP)
    s = make(family_of(address))
    s.connect((address, int(port)))
    return s, l.accept()[0]


def serve(address, port, protocol=VQP, device="", when=""):
    """Echo what comes until its end, and then end the answer; if so, once that file is there."""
    ready = background()
    s = listener(address, port, int(protocol))
    if device:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
    ready()
    eventually(lambda: not when or os.path.exists(when))

    def echo(c):
        with c:
            while data := c.recv(65536):
                c.sendall(data)
            c.shutdown(socket.SHUT_WR)

    while True:
        c, peer = s.accept()
        assert peer == c.getpeername(), (peer, c.getpeername())
        threading.Thread(target=echo, args=(c,), daemon=True).start()


def answers(address, port):
    """Send back what comes, a byte at a time, when the peer waits for it."""
    ready = background()
    l = listener(address, port, VQP)
    ready()
    s, _ = l.accept()
    s.settimeout(None)
    while byte := s.recv(1):
        time.sleep(0.02)
        s.sendall(byte)


def polls(address, port, count):
    """Who waits by epoll sleeps; and seldom with busy polling, which descriptor 8 turns on where an epoll cannot."""
    s = make(family_of(address))
    s.connect((address, int(port)))
    e = select.epoll()
    e.register(s, select.EPOLLIN)

    def sleeps():
        n = 0
        for _ in range(int(count)):
            s.sendall(b"x")
            before = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
            assert e.poll(TIMEOUT)
            n += resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - before
            assert s.recv(1) == b"x"
        return n

    without = sleeps()
    if errno_of(fcntl.ioctl, e, EPIOCSPARAMS, struct.pack("IHBB", 1000000, 0, 0, 0)):
        os.write(8, b"1000000")
    with_it = sleeps()
    print(f"slept {without} times, {with_it} with busy polling")
    assert with_it < without / 2


def hold(address, port):
    """Accept one connection, and keep it."""
    ready = background()
    s = listener(address, port, VQP)
    ready()
    kept = []
    while True:
        kept.append(s.accept())


def talk(address, port, size="100000"):
    """What is sent comes back, and the names are each other's."""
    s = make(family_of(address))
    s.connect((address, int(port)))
    converse(s, address, port, int(size))


def asks(address, port, count, spin_us):
    """A byte and its answer, so often. Each wait spins so long, if it does."""
    s = make(family_of(address))
    s.settimeout(None)
    s.setsockopt(socket.SOL_SOCKET, SO_BUSY_POLL, int(spin_us))
    s.connect((address, int(port)))
    for _ in range(int(count)):
        s.sendall(b"x")
        assert s.recv(1) == b"x"


def waits(count, s, peer):
    """One end waits so often for the other, which takes its time."""
    s.settimeout(None)
    for _ in range(count):
        t = threading.Timer(0.01, peer.sendall, (b"x",))
        t.start()
        assert s.recv(1) == b"x"
        t.join()


def seldom(address, port, count):
    """An end whose peer takes its time, so often."""
    waits(int(count), *ends(address, port))


def starves(address, port, count, when):
    """A second in which the group behind descriptor 8 had no processor; 9 leads out of it. Then, in the background, once
    the file `when` is there, an end that waited before waits so often for a peer that takes its time. It is renamed then."""
    def starved():
        with open("/proc/self/schedstat") as f:
            return int(f.read().split()[1])

    ready = background()
    s, peer = ends(address, port)
    waits(10, s, peer)
    os.write(8, b"0")
    before = starved()
    while starved() < before + 1e9:
        pass
    os.write(9, b"0")
    ready()
    eventually(lambda: os.path.exists(when))
    waits(int(count), s, peer)
    os.rename(when, when + ".done")


def talk_once(address, port, when):
    """The same with a socket that is made before the file `when` is there, and connects after that."""
    converse_later(make(family_of(address)), address, port, when, False)


def talk_connected(address, port, when):
    """The same with a connection that is made before."""
    s = make(family_of(address))
    s.connect((address, int(port)))
    converse_later(s, address, port, when, True)


def talk_filtered(address, port):
    """With an option that is a rule about packets."""
    s = make(family_of(address))
    s.setsockopt(socket.IPPROTO_IP, IP_MINTTL, 1)
    s.connect((address, int(port)))
    converse(s, address, port, 100000)


def converse(s, address, port, size):
    assert s.getpeername()[:2] == (address, int(port)), s.getpeername()
    assert s.getsockname()[1] > 1023
    data = (hashlib.sha512(str(size).encode()).digest() * (size // 64 + 1))[:size]

    def send():
        s.sendall(data)
        s.shutdown(socket.SHUT_WR)

    t = threading.Thread(target=send)
    t.start()
    got = bytearray()
    while piece := s.recv(65536):
        got += piece
    t.join()
    assert got == data, (len(got), size)
    s.close()


def converse_later(s, address, port, when, connected):
    """In the background: once the file `when` is there, connect if need be, and converse. It is renamed then."""
    ready = background()
    ready()
    eventually(lambda: os.path.exists(when))
    if not connected:
        s.connect((address, int(port)))
    converse(s, address, port, 100000)
    os.rename(when, when + ".done")


def refused(address, port):
    try:
        make().connect((address, int(port)))
    except ConnectionRefusedError:
        return
    raise AssertionError("connected")


def refused_later(address, port):
    """A connect that does not wait fails later, as poll and SO_ERROR tell."""
    s = make()
    s.setblocking(False)
    ret = s.connect_ex((address, int(port)))
    if ret == errno.EINPROGRESS:
        p = select.poll()
        p.register(s, select.POLLOUT)
        assert p.poll(TIMEOUT * 1000)[0][1] & select.POLLERR
        ret = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
    assert ret == errno.ECONNREFUSED, ret


def broken(address, port):
    """Connect, say so, and wait until the connection breaks."""
    s = make()
    s.connect((address, int(port)))
    ready = background()
    ready()
    try:
        s.recv(1)
        what = "end"
    except OSError as e:
        what = errno.errorcode[e.errno]
    with open("/run/vqp/broken", "w") as f:
        f.write(what)


def told(address, port, when, *options):
    """In the background: send something once the file `when` is there, and write into another which error comes.
    Options: MILLISECONDS of TCP_USER_TIMEOUT; alive: SO_KEEPALIVE; mute: nothing is sent."""
    s = make()
    for option in options:
        if option == "alive":
            s.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 1)
        elif option != "mute":
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(option))
    s.connect((address, int(port)))
    s.settimeout(None)
    background()()
    while not os.path.exists(when):
        time.sleep(0.01)
    what = None if "mute" in options else errno_of(s.send, b"1")
    what = what or errno_of(s.recv, 1)
    with open(when + ".new", "w") as f:
        f.write(what)
    os.rename(when + ".new", when + ".done")


def pour(address, port, when, size="4096"):
    """In the background: have an echo as much as it takes, in pieces of that size, until the file `when` is there, which
    is renamed when all has come back, once and in order."""
    s = make()
    s.connect((address, int(port)))
    background()()
    s.settimeout(None)
    sent = 0

    def block(i):
        return hashlib.sha512(str(i).encode()).digest() * (int(size) // 64)

    def send():
        nonlocal sent
        while not os.path.exists(when):
            s.sendall(block(sent))
            sent += 1
        s.shutdown(socket.SHUT_WR)

    t = threading.Thread(target=send)
    t.start()
    got = 0
    while piece := s.recv(int(size), socket.MSG_WAITALL):
        assert piece == block(got), got
        got += 1
    t.join()
    assert got == sent, (got, sent)
    os.rename(when, when + ".done")


def spend(address, port, count):
    """Connect so often, have each connection carry as much as fills its window, both ways, and keep all."""
    kept = []
    for _ in range(int(count)):
        s = make()
        s.connect((address, int(port)))
        sender = threading.Thread(target=s.sendall, args=(bytes(1 << 20),))
        sender.start()
        left = 1 << 20
        while left:
            left -= len(s.recv(left))
        sender.join()
        kept.append(s)
    background()()
    threading.Event().wait()


def sink(address, port):
    """Read what comes on each connection up to its end, and keep all."""
    ready = background()
    l = listener(address, port, VQP)
    ready()
    kept = []

    def drain(c):
        while c.recv(65536):
            pass

    while True:
        kept.append(l.accept()[0])
        threading.Thread(target=drain, args=(kept[-1],), daemon=True).start()


def send_half(address, port, count):
    """Connect so often, have each connection carry as much as fills its window, end that, and keep all."""
    kept = []
    for _ in range(int(count)):
        s = make()
        s.connect((address, int(port)))
        s.sendall(bytes(1 << 20))
        s.shutdown(socket.SHUT_WR)
        kept.append(s)
    background()()
    threading.Event().wait()


def hoards(address, port, size, idle=""):
    """Accept one connection, and read so many bytes when they are there; if so, when their sender has been idle, too."""
    ready = background()
    l = listener(address, port, VQP)
    ready()
    s, _ = l.accept()
    size = int(size)
    eventually(lambda: queued(s, termios.FIONREAD) == size)
    # the window of one that is idle is a page
    eventually(lambda: not idle or rcv_space(s) <= 4096)
    s.settimeout(None)
    assert len(s.recv(size, socket.MSG_WAITALL)) == size
    threading.Event().wait()


def queued(s, request):
    return struct.unpack("i", fcntl.ioctl(s, request, bytes(4)))[0]


def rcv_space(s):
    """tcpi_rcv_space"""
    return struct.unpack_from("I", s.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), 96)[0]


def writes_later(address, port, size, when):
    """Send so many bytes. In the background: once the file `when` is there, all of them have arrived, and there is room
    for more. It is renamed then."""
    s = make()
    s.connect((address, int(port)))
    s.sendall(bytes(int(size)))
    background()()
    eventually(lambda: os.path.exists(when))
    p = select.poll()
    p.register(s, select.POLLOUT)
    assert p.poll(0)
    assert queued(s, termios.TIOCOUTQ) == 0
    os.rename(when, when + ".done")


def keep(address, port, count):
    """Connect so often, and keep all."""
    kept = []
    for _ in range(int(count)):
        s = make()
        s.connect((address, int(port)))
        kept.append(s)
    names = {s.getsockname() for s in kept}
    assert len(names) == len(kept)
    background()()
    threading.Event().wait()


def backlog(address, port):
    """Beyond the backlog of a listener that accepts nothing, connections go by TCP."""
    s = make()
    s.bind((address, int(port)))
    s.listen(2)
    background()()
    threading.Event().wait()


def no_socket():
    """There is no such protocol here."""
    for family in socket.AF_INET, socket.AF_INET6:
        assert errno_of(make, family) == "EPROTONOSUPPORT"


def no_mptcp(address, port):
    """TCP lets the kernel alone make subflows of MPTCP: the inner socket is none of the kernel's."""
    def refused(s):
        return errno_of(s.setsockopt, socket.IPPROTO_TCP, TCP_ULP, b"mptcp") in ("EOPNOTSUPP", "ENOTSUP", "ENOENT")
    s = make()
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
    assert refused(s)
    l = listener(address, port, VQP)
    c = socket.create_connection((address, int(port)), TIMEOUT)
    a, _ = l.accept()
    assert refused(a)
    c.close()


def no_smc(address, port):
    """SMC does not get the file of an inner socket, and what was refused goes on as it was."""
    s = make()
    assert errno_of(s.setsockopt, socket.IPPROTO_TCP, TCP_ULP, b"smc") == "ENOTCONN"
    s.connect((address, int(port)))
    converse(s, address, port, 100000)


def closes(address, port):
    """Connect, and close that."""
    s = make(family_of(address))
    s.connect((address, int(port)))
    s.close()


def listens_no_more(address, port):
    """A listener that connect(AF_UNSPEC) has dissolved gets no connection, and its port has another."""
    old = listener(address, port, VQP)
    dissolve(old)
    assert errno_of(old.accept) == "EINVAL"
    new = listener(address, port, VQP)
    new.settimeout(TIMEOUT)
    for _ in range(20):
        s = make()
        s.connect((address, int(port)))
        new.accept()[0].close()
    assert errno_of(old.listen, 16) == "EADDRINUSE"


def listens_again(address, port):
    """A listener of no port of its own gets another one when it listens again."""
    s = make()
    for _ in range(3):
        s.listen(16)
        c = make()
        c.connect((address, s.getsockname()[1]))
        s.accept()[0].close()
        c.close()
        dissolve(s)


def fill(address, port, count):
    """Connect so often, and send as much as goes to who does not read."""
    kept = []
    for _ in range(int(count)):
        s = make()
        s.connect((address, int(port)))
        s.setblocking(False)
        while errno_of(s.send, bytes(65536)) is None:
            pass
        kept.append(s)
    background()()
    threading.Event().wait()


def slow_reader(address, port):
    """Wait for more than one piece, by poll and by peeking, of a sender that has but one at a time."""
    ready = background()
    l = listener(address, port, VQP)
    ready()
    s, _ = l.accept()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 50000)
    p = select.poll()
    p.register(s, select.POLLIN)
    got = 0
    while p.poll(TIMEOUT * 1000):
        peeked = s.recv(50000, socket.MSG_PEEK | socket.MSG_WAITALL)
        data = s.recv(len(peeked))
        assert data == peeked
        got += len(data)
        if not data:
            break
    s.sendall(b"%d" % got)


def slow_sender(address, port):
    s = make()
    s.connect((address, int(port)))
    s.sendall(bytes(200000))
    s.shutdown(socket.SHUT_WR)
    assert s.recv(100) == b"200000"


def dissolved(address, port):
    """A thread that waits at a connection which another dissolves is told."""
    l = listener(address, port, VQP)
    s = make()
    s.settimeout(None)
    s.connect((address, int(port)))
    a, _ = l.accept()
    told = []
    tid = []

    def wait():
        tid.append(threading.get_native_id())
        told.append(errno_of(s.recv, 1))

    t = threading.Thread(target=wait, daemon=True)
    t.start()
    eventually(lambda: tid)

    def sleeps():
        with open(f"/proc/self/task/{tid[0]}/syscall") as f:
            return f.read().split()[0] == {"x86_64": "45", "aarch64": "207"}[os.uname().machine]

    eventually(sleeps)
    dissolve(s)
    t.join(TIMEOUT)
    assert told == ["ECONNRESET"], told
    assert errno_of(a.recv, 1) == "ECONNRESET"
    assert s.getsockname() == ("0.0.0.0", 0), s.getsockname()
    s.connect((address, int(port)))
    for _ in range(40):
        dissolve(s)
        s.connect((address, int(port)))
        l.accept()[0].close()


def accepters(address, port, count):
    """Several threads wait at one listener, at which connections of both kinds come."""
    l = listener(address, port, VQP)

    def accept():
        while True:
            with l.accept()[0] as c:
                c.sendall(b"x")

    for _ in range(4):
        threading.Thread(target=accept, daemon=True).start()
    for i in range(int(count)):
        # every fifth is one of TCP
        s = socket.create_connection((address, int(port)), TIMEOUT) if i % 5 == 0 else make()
        if i % 5:
            s.connect((address, int(port)))
        assert s.recv(1) == b"x"
        s.close()


def shows(protocol):
    """Sockets that are asked for by PROTOCOL are of this one, in both families."""
    for family in socket.AF_INET, socket.AF_INET6:
        s = make(family)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == int(protocol)


def untouched():
    """What is no stream socket of TCP's is what it is."""
    for family in socket.AF_INET, socket.AF_INET6:
        s = socket.socket(family, socket.SOCK_DGRAM)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_UDP
        s = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_TCP)
        assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == socket.IPPROTO_TCP
    s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    assert s.getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL) == 0


def landlock():
    """Landlock keeps this process from connecting to any port by TCP. False if it has no such rules."""
    attributes = struct.pack("QQ", 0, LANDLOCK_ACCESS_NET_CONNECT_TCP)
    ruleset = libc.syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)
    if ruleset < 0:
        return False
    assert libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    assert libc.syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0) == 0
    os.close(ruleset)
    return True


def has_landlock():
    assert landlock()


def confined(address, port, error):
    """With that, connecting fails with this error, or not at all (None)."""
    assert landlock()
    s = make()
    got = errno_of(s.connect, (address, int(port)))
    assert str(got) == error, got


def mptcp(address, port, when):
    """A socket of MPTCP that is made before the file `when` is there. The kernel makes it one of TCP after that."""
    s = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)
    s.settimeout(TIMEOUT)
    converse_later(s, address, port, when, False)


def taken(address, port):
    """A socket that is bound to a port which has such a connection already is told so."""
    first, second = make(), make()
    for s in first, second:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    first.bind(("0.0.0.0", 0))
    second.bind(first.getsockname())
    first.connect((address, int(port)))
    assert errno_of(second.connect, (address, int(port))) == "EADDRNOTAVAIL"


def reset(port):
    """A connection of TCP that its peer has reset: 5 bytes went, and 7 came."""
    l = listener("127.0.0.1", port, VQP)
    s = make()
    s.connect(("127.0.0.1", int(port)))
    a, _ = l.accept()
    s.sendall(b"12345")
    assert len(a.recv(5, socket.MSG_WAITALL)) == 5
    a.sendall(b"1234567")
    assert len(s.recv(7, socket.MSG_WAITALL)) == 7
    a.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    a.close()
    assert errno_of(s.recv, 1) == "ECONNRESET"
    background()()
    threading.Event().wait()


def many(count):
    """So many sockets that are not connected."""
    kept = [make() for _ in range(int(count))]
    background()()
    threading.Event().wait()
    del kept


def counted(address, port):
    """A near connection with 3,000 bytes one way, of which 1,000 are unread, and 500 the other; and one by loopback."""
    l = listener("0.0.0.0", port, VQP)
    s = make()
    s.connect((address, int(port)))
    a, _ = l.accept()
    s.sendall(bytes(3000))
    a.sendall(bytes(500))
    assert len(a.recv(2000, socket.MSG_WAITALL)) == 2000
    assert len(s.recv(500, socket.MSG_WAITALL)) == 500
    s.shutdown(socket.SHUT_WR)
    t = make()
    t.connect(("127.0.0.1", int(port)))
    b, _ = l.accept()
    b.sendall(b"1234567")
    assert len(t.recv(7, socket.MSG_WAITALL)) == 7
    background()()
    threading.Event().wait()


def toggled(count, what):
    """While sockets are turned on and off, TCP is what a socket is, or vqp; so often, until the file is there."""
    ready = background()
    ready()
    seen = set()
    while not os.path.exists(what) or len(seen) < int(count):
        seen.add(make().getsockopt(socket.SOL_SOCKET, socket.SO_PROTOCOL))
    assert seen <= {6, 258}
    os.rename(what, what + ".done")


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
