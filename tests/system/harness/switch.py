# SPDX-License-Identifier: Apache-2.0
"""Open vSwitch in a namespace and folders of its own."""

import os
import pathlib
import re
import tempfile

from .counters import parse_pool, parse_show
from .netns import Namespace
from .process import Child, CommandFailed, Detached, processes_with, run
from .waiting import wait_until

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
PREFIX = pathlib.Path(os.environ.get("OVS_PREFIX", REPOSITORY / "build" / "ovs-4.0.0"))

_LOG_LINE = re.compile(r"^[^|]*\|[^|]*\|(?P<module>[^|]*)\|(?P<level>WARN|ERR|EMER)\|(?P<text>.*)$")


class Switch:
    """ovsdb-server and ovs-vswitchd, by default with one PMD on core 0 and a bridge br0."""

    def __init__(self, name="sw", pmd_mask="0x1", other_config=None, ipv6=False):
        self._folder = tempfile.TemporaryDirectory(prefix=f"afx-{os.getpid()}-")
        self.folder = pathlib.Path(self._folder.name)  # tempfile makes it with mode 0700
        self.namespace = Namespace(name, ipv6=ipv6)
        self._environment = {**os.environ}
        for variable in ("OVS_RUNDIR", "OVS_LOGDIR", "OVS_DBDIR", "OVS_SYSCONFDIR"):
            self._environment[variable] = str(self.folder)
        self._environment["PATH"] = f"{PREFIX}/bin:{PREFIX}/sbin:{os.environ['PATH']}"
        self._environment["OVS_PKGDATADIR"] = f"{PREFIX}/share/openvswitch"
        self._db_socket = f"unix:{self.folder}/db.sock"
        self._control = f"{self.folder}/ovs-vswitchd.ctl"
        self.log_path = self.folder / "ovs-vswitchd.log"
        self.database = None
        self.daemon = None
        try:
            self._start_database({"pmd-cpu-mask": pmd_mask, **(other_config or {})})
        except BaseException:
            self.close()
            raise

    # ---- Life ----------------------------------------------------------------------------------

    def _start_database(self, other_config):
        file = self.folder / "conf.db"
        schema = f"{PREFIX}/share/openvswitch/vswitch.ovsschema"
        run([f"{PREFIX}/bin/ovsdb-tool", "create", str(file), schema], env=self._environment)
        self.database = Child(
            self.namespace.command(
                [f"{PREFIX}/sbin/ovsdb-server", str(file), f"--remote=p{self._db_socket}",
                 f"--unixctl={self.folder}/ovsdb-server.ctl", "-vconsole:off",
                 f"--log-file={self.folder}/ovsdb-server.log"]),
            self.folder / "ovsdb-server.out", self._environment)
        wait_until((self.folder / "db.sock").exists, self.database.output)
        settings = [f"other_config:{key}={value}" for key, value in other_config.items()]
        self.vsctl("init", wait=False)
        self.vsctl("set", "Open_vSwitch", ".", *settings, wait=False)

    def start(self, wrapper=(), options=(), bridge=True):
        """Starts ovs-vswitchd in the foreground, through `wrapper` (such as setpriv ...)."""
        self.daemon = Child(self._daemon_command(*options, wrapper=wrapper),
                            self.folder / "ovs-vswitchd.out", self._environment)
        wait_until(self._answers, self.tail, timeout=20)
        if bridge:
            self.add_bridge("br0")
        return self

    def start_detached(self, *options):
        """Starts it as service scripts do; returns when it has forked and is ready."""
        run(self._daemon_command("--detach", f"--pidfile={self.folder}/ovs-vswitchd.pid", *options),
            env=self._environment)
        self.adopt_daemon()

    def adopt_daemon(self):
        """Takes the process that ovs-vswitchd's pidfile names for the daemon."""
        self.daemon = Detached(int((self.folder / "ovs-vswitchd.pid").read_text("ascii")))

    def _daemon_command(self, *options, wrapper=()):
        return self.namespace.command(
            [*wrapper, f"{PREFIX}/sbin/ovs-vswitchd", self._db_socket, "--no-chdir",
             f"--unixctl={self._control}", "-vconsole:off", f"--log-file={self.log_path}",
             *options])

    def _answers(self):
        if not self.daemon.alive():
            raise AssertionError(f"ovs-vswitchd ended: {self.daemon.exit_status()}\n{self.tail()}")
        return os.path.exists(self._control) and self.appctl("version", check=False).returncode == 0

    def restart(self, how="stop"):
        """Ends the daemon by `how` ("stop" or "kill") and starts another on the same database."""
        getattr(self.daemon, how)()
        # A daemon that was killed leaves its control socket, which must not be taken for an answer.
        pathlib.Path(self._control).unlink(missing_ok=True)
        self.start(bridge=False)

    def close(self):
        """Ends the daemons and takes the namespace down.  Safe to call at any point."""
        for child in (self.daemon, self.database):
            if child:
                child.stop()
        # A daemon that a monitor has started, perhaps.
        for pid in processes_with(str(self.folder)):
            Detached(pid).kill()
        self.namespace.delete()
        self._folder.cleanup()

    # ---- Tools ---------------------------------------------------------------------------------

    def tool(self, program, *words, **options):
        return self.namespace.run([f"{PREFIX}/bin/{program}", *words],
                                  env=self._environment, **options)

    def vsctl(self, *words, wait=True, **options):
        """ovs-vsctl WORDS; returns its output, stripped."""
        waiting = [] if wait else ["--no-wait"]
        # --retry: the database's socket is there a moment before it is listened on.
        done = self.tool("ovs-vsctl", f"--db={self._db_socket}", "--timeout=20", "--retry",
                         *waiting, *words, check=False, **options)
        # 65: the database has it, but a port reports an error.  That is for port_error() to see.
        if done.returncode not in (0, 65):
            raise CommandFailed(f"ovs-vsctl {' '.join(words)}: {done.stderr}")
        return done.stdout.strip()

    def ofctl(self, command, *words, bridge="br0", **options):
        return self.tool("ovs-ofctl", "-OOpenFlow15", command,
                         f"unix:{self.folder}/{bridge}.mgmt", *words, **options).stdout

    def appctl(self, *words, **options):
        return self.tool("ovs-appctl", f"--target={self._control}", *words, **options)

    def log_lines(self):
        """(module, level, text) of each WARN, ERR and EMER line of the daemon's log."""
        if not self.log_path.exists():
            return []
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            found = (_LOG_LINE.match(line) for line in log)
            return [(m["module"], m["level"], m["text"]) for m in found if m]

    def tail(self, lines=30):
        text = self.daemon.output() if self.daemon else ""
        if self.log_path.exists():
            text += self.log_path.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-lines:])

    # ---- Bridges, ports, flows -----------------------------------------------------------------

    def add_bridge(self, name, fail_mode="secure"):
        """A userspace bridge; "secure" means that it forwards nothing before add_flow()."""
        self.vsctl("add-br", name, "--", "set", "bridge", name, "datapath_type=netdev",
                   f"fail_mode={fail_mode}")

    def add_port(self, name, bridge="br0", kind="afxdp", ofport=None, **options):
        """Adds device `name`; underscores and dashes of option names as OVS has them, quoted by
        **{"xdp-mode": "native"}.  Does not look at whether it worked: see port_error()."""
        words = ["add-port", bridge, name, "--", "set", "interface", name, f"type={kind}"]
        if ofport:
            words.append(f"ofport_request={ofport}")
        words += [f"options:{key}={value}" for key, value in options.items()]
        self.vsctl(*words)

    def set_options(self, port, **options):
        self.vsctl("set", "interface", port,
                   *[f"options:{key}={value}" for key, value in options.items()])

    def delete_port(self, name, bridge="br0"):
        self.vsctl("del-port", bridge, name)

    def interface(self, port, column):
        """A column of the Interface's row as ovs-vsctl prints it, without quotes."""
        return self.vsctl("get", "interface", port, column).strip('"')

    def port_error(self, port):
        error = self.interface(port, "error")
        return "" if error == "[]" else error.replace('\\"', '"')

    def interface_map(self, port, column):
        """A map column ("status", "statistics") as a dictionary."""
        text = self.vsctl("get", "interface", port, column)
        pairs = re.findall(r'("(?:[^"\\]|\\.)*"|[^ ={,]+)=("(?:[^"\\]|\\.)*"|[^,}]+)', text)
        return {key.strip('"'): value.strip('"') for key, value in pairs}

    def ofport(self, port):
        return int(wait_until(
            lambda: (n := self.interface(port, "ofport")) not in ("[]", "-1") and n,
            lambda: f"{port} has no OpenFlow port: {self.port_error(port)}"))

    def add_flow(self, text, bridge="br0"):
        self.ofctl("add-flow", text, bridge=bridge)

    def connect(self, one, other):
        """What comes in at either of two ports leaves by the other."""
        a, b = self.ofport(one), self.ofport(other)
        self.add_flow(f"in_port={a},actions=output:{b}")
        self.add_flow(f"in_port={b},actions=output:{a}")

    # ---- What the provider shows ---------------------------------------------------------------

    def pool(self):
        return parse_pool(self.appctl("afxdp/pool").stdout)

    def ports(self):
        return parse_show(self.appctl("afxdp/show").stdout)

    def port(self, name):
        return parse_show(self.appctl("afxdp/show", name).stdout)[name]
