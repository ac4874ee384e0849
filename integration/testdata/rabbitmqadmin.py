# Runs the named script with each of the argument lists on standard input, in one process because that is cheaper than one each,
# and writes the output and the exit code of each run.
import contextlib
import io
import json
import sys

path, told = sys.argv[1], []
with open(path) as f:
    script = compile(f.read(), path, "exec")
for args in json.load(sys.stdin):
    sys.argv, sys.stdin = [path] + args, io.StringIO("from the input\n")
    out, code = io.StringIO(), 0
    err = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            exec(script, {"__name__": "__main__"})
        except SystemExit as e:
            code = e.code or 0
    told.append({"stdout": out.getvalue(), "stderr": err.getvalue(), "code": code})
json.dump(told, sys.__stdout__)
