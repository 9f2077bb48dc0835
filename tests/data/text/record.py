#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Records the text reader's fixtures anew, as root, in a private instance that it removes.

    record.py [OUTDIR]

One run of names.c becomes kernel.trace (the `trace` file), small.dat (the same ring buffer as a v6
trace.dat, written here so that nothing outside the instance is touched) and what `trace-cmd report`
says of that file: report-t.txt whole, with other options some lines of it. Further runs give some
lines of the `trace` file and of trace_pipe with other options of the instance. No test runs this:
they read what it left. test_ftrace_text.c knows how many lines are in these files.
"""
import functools
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TRACING = "/sys/kernel/tracing"
INSTANCE = TRACING + "/instances/pfs_text_fixture"
CALLS = """mmap munmap mremap mprotect pkey_mprotect brk madvise process_madvise shmat shmdt execve
execveat clone clone3 fork vfork mlock mlock2 mlockall munlockall remap_file_pages prctl""".split()
EVENTS = """exceptions/page_fault_user exceptions/page_fault_kernel maple_tree/ma_write
filemap/mm_filemap_map_pages filemap/mm_filemap_fault filemap/mm_filemap_add_to_page_cache
kmem/mm_page_alloc signal/signal_generate mmap/exit_mmap sched/sched_process_exec
sched/sched_process_fork sched/sched_process_exit task/task_newtask task/task_rename
sched/sched_process_wait""".split()
EVENTS += [f"syscalls/sys_{way}_{call}" for call in CALLS for way in ("enter", "exit")]


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def record(argv, options, consume):
    """What consume() makes of one traced run, called while the buffer still holds it."""
    os.mkdir(INSTANCE)
    try:
        for option in ["buffer_size_kb=2048", *options]:
            write(INSTANCE + "/" + option.split("=")[0], option.split("=")[1])
        write(INSTANCE + "/options/event-fork", "1")
        # mlockall and exec allocate by the hundred: a few are enough
        write(INSTANCE + "/events/kmem/mm_page_alloc/filter", "order > 0 || migratetype == 2")
        child = subprocess.Popen(argv, stdin=subprocess.PIPE)
        write(INSTANCE + "/set_event_pid", str(child.pid))
        for event in EVENTS:
            write(f"{INSTANCE}/events/{event}/enable", "1")
        child.communicate(b"x\n")
        write(INSTANCE + "/tracing_on", "0")
        return consume()
    finally:
        os.rmdir(INSTANCE)


def trace_file():
    return read(INSTANCE + "/trace")


def trace_pipe():
    fd = os.open(INSTANCE + "/trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
    text = b""
    try:
        while True:
            text += os.read(fd, 65536)
    except BlockingIOError:
        return text
    finally:
        os.close(fd)


def pages(cpu):
    fd = os.open(f"{INSTANCE}/per_cpu/cpu{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
    data = b""
    try:
        while True:
            page = os.read(fd, 4096)
            if not page:
                break
            data += page.ljust(4096, b"\0")
    except BlockingIOError:
        pass
    os.close(fd)
    return data


def whole():
    text = trace_file()
    return text, [pages(cpu) for cpu in range(os.cpu_count())], read(TRACING + "/saved_cmdlines")


def section(magic, data):
    return magic + b"\0" + struct.pack("<Q", len(data)) + data


def head(kallsyms, comms):
    out = b"\x17\x08\x44tracing6\0" + b"\0" + b"\x08" + struct.pack("<I", 4096)
    out += section(b"header_page", read(TRACING + "/events/header_page"))
    out += section(b"header_event", read(TRACING + "/events/header_event"))
    out += struct.pack("<I", 0)
    systems = {}
    for event in EVENTS:
        systems.setdefault(event.split("/")[0], []).append(event)
    out += struct.pack("<I", len(systems))
    for name, events in systems.items():
        out += name.encode() + b"\0" + struct.pack("<I", len(events))
        for event in events:
            fmt = read(f"{TRACING}/events/{event}/format")
            out += struct.pack("<Q", len(fmt)) + fmt
    out += struct.pack("<I", len(kallsyms)) + kallsyms
    out += struct.pack("<I", 0)
    return out + struct.pack("<Q", len(comms)) + comms


def flyrecord(at, buffers):
    """The table of a buffer's cpus, and its pages, for a place `at` in the file."""
    where = at + 10 + 16 * len(buffers)
    where += -where % 4096
    table, data, start = b"flyrecord\0", b"", where
    for buf in buffers:
        table += struct.pack("<QQ", where, len(buf))
        data += buf
        where += len(buf)
    return table.ljust(start - at, b"\0") + data


def dat(kallsyms, comms, buffers, instances=()):
    """A v6 trace.dat of the top buffer's pages and of (name, pages) instances."""
    out = head(kallsyms, comms) + struct.pack("<I", len(buffers)) + b"options  \0"
    fixups = []
    for name, _ in instances:
        out += struct.pack("<HI", 3, 8 + len(name) + 1)
        fixups.append(len(out))
        out += struct.pack("<Q", 0) + name + b"\0"
    out += struct.pack("<H", 0)
    out += flyrecord(len(out), buffers)
    for at, (_, bufs) in zip(fixups, instances):
        out = out[:at] + struct.pack("<Q", len(out)) + out[at + 8:]
        out += flyrecord(len(out), bufs)
    return out


def report(name, *args):
    return name, subprocess.run(["trace-cmd", "report", *args], stdout=subprocess.PIPE,
                                check=True).stdout


def pick(text):
    """The headers, and of each event the first three lines: all that a form needs to be known by."""
    seen, out = {}, b""
    for line in text.splitlines(True):
        event = re.search(rb"(?:\d:|us.:|\)) +(\w+(?:: |\(| ->)|<stack)", line)
        key = event.group(1) if event else b"=>" if line.startswith(b" =>") else None
        seen[key] = seen.get(key, 0) + 1
        if key is None or seen[key] <= 3:
            out += line
    return out


def symbols(text):
    """Of /proc/kallsyms what the addresses in the text need, so that trace-cmd prints symbols."""
    lines = [b" ".join(line.split()[:3]) + b"\n" for line in read("/proc/kallsyms").splitlines()]
    lines = [line for line in lines if line.split()[1] in b"tT"]
    used = set(re.findall(rb" ip=([A-Za-z_]\w*)", text))
    near = [i for i, line in enumerate(lines) if line.split()[2] in used]
    return b"".join(lines[j] for i in near for j in (i, i + 1))


def main(out):
    tmp = tempfile.mkdtemp()
    child, strange = tmp + "/names", tmp + "/a b=c pid=9"
    subprocess.run(["gcc", "-O1", "-static", "-pthread", "-o", child, HERE + "/names.c"], check=True)
    shutil.copy(child, strange)
    run = functools.partial(record, [child, tmp + "/scratch", strange])

    text, bufs, comms = run(["options/record-tgid=1"], whole)
    comms = b"".join(c for c in comms.splitlines(True) if b"-" + c.split()[0] + b" " in text)
    files = {"kernel.trace": text, "small.dat": dat(symbols(text), comms, bufs)}
    small, buffers = tmp + "/small.dat", tmp + "/buffers.dat"
    with open(small, "wb") as f:
        f.write(files["small.dat"])
    with open(buffers, "wb") as f:
        f.write(dat(symbols(text), comms, [bufs[0], b""], [(b"in-1 [000] 1.2: x", [b"", bufs[1]])]))
    files.update([report("report-t.txt", "-t", "-i", small)])
    reports = [report("report.txt", "-i", small), report("report-l.txt", "-l", "-i", small),
               report("report-R.txt", "-R", "-i", small),
               report("report-diff.txt", "--ts-diff", "-i", small),
               report("report-buffers.txt", "-i", buffers)]
    for name, *options in (["pipe"], ["irq0", "options/irq-info=0"],
                           ["latency", "options/latency-format=1"], ["fields", "options/fields=1"],
                           ["verbose", "options/verbose=1"], ["counter", "trace_clock=counter"],
                           ["tsc", "trace_clock=x86-tsc"], ["stacks", "options/stacktrace=1"]):
        reports.append((f"kernel-{name}.trace",
                        run(options, trace_pipe if name == "pipe" else trace_file)))
    files.update((name, pick(text)) for name, text in reports)
    # too small a buffer: what is in it when somebody reads comes after what was lost
    files["kernel-lost.trace"] = pick(run(["buffer_size_kb=8"], trace_pipe))
    _, bufs, comms = run(["buffer_size_kb=8"], whole)
    with open(small, "wb") as f:
        f.write(dat(b"", comms, bufs))
    files["report-lost.txt"] = pick(report("", "-i", small)[1])
    for name, data in files.items():
        with open(f"{out}/{name}", "wb") as f:
            f.write(data)
    shutil.rmtree(tmp)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
