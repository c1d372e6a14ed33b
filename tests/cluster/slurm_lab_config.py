"""The files that configure a lab: slurm.conf, gres.conf, cgroup.conf, hosts."""

import os

CONTROLLER = "ctl"
CONTROLLER_ADDRESS = "10.79.0.1"
MOST_NODES = 250


def address(node):
    """Of node 1, 2, ...: n1 is 10.79.1.1."""
    return f"10.79.1.{node}"


def hardware_address(node_address):
    """The same whenever the node starts again, since other nodes remember it."""
    return "02:00:" + ":".join(f"{int(part):02x}" for part in node_address.split("."))


def node_names(options):
    return [f"n{node}" for node in range(1, options.nodes + 1)]


def hosts(options):
    lines = ["127.0.0.1 localhost", f"{CONTROLLER_ADDRESS} {CONTROLLER}"]
    lines += [f"{address(node)} n{node}" for node in range(1, options.nodes + 1)]
    return "\n".join(lines) + "\n"


def cluster_settings(directory, options):
    """In the order of slurm.conf's manual: who, where, how, how long, which plugins, which job goes first."""
    return {
        "ClusterName": "lab",
        "SlurmctldHost": f"{CONTROLLER}({CONTROLLER_ADDRESS})",
        "SlurmUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={directory}/munge.socket",
        "CredType": "cred/munge",
        "StateSaveLocation": f"{directory}/state",
        "SlurmdSpoolDir": f"{directory}/spool/%n",
        "TmpFS": f"{directory}/tmp/%n",  # nodes share this machine's /tmp, where PMIx makes a directory for each step
        "SlurmctldPidFile": f"{directory}/slurmctld.pid",
        "SlurmdPidFile": f"{directory}/slurmd-%n.pid",
        "SlurmctldLogFile": f"{directory}/log/slurmctld.log",
        "SlurmdLogFile": f"{directory}/log/slurmd-%n.log",
        "JobCompType": "jobcomp/filetxt",
        "JobCompLoc": f"{directory}/log/jobcomp.txt",
        # A node has the processors that the lab says, whatever this machine has.
        "SlurmdParameters": "config_overrides",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "AccountingStorageType": "accounting_storage/none",
        "MpiDefault": "none",
        "GresTypes": "gpu,shard",
        # As fast as Slurm goes, since tests wait for it.
        "SlurmdTimeout": 10,
        "SlurmctldTimeout": 30,
        "MessageTimeout": 10,
        "KillWait": 5,
        "CompleteWait": 0,
        "InactiveLimit": 0,
        "Waittime": 0,
        "EpilogMsgTime": 0,
        "MinJobAge": 300,
        "ReturnToService": 2,  # a node that starts again is usable at once
        "JobRequeue": 1,
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "bf_interval=1,bf_resolution=1,bf_window=1440,bf_continue,sched_interval=1,"
                               "sched_min_interval=0,batch_sched_delay=0,preempt_youngest_first",
        "PriorityType": "priority/basic",
        "PreemptType": "preempt/partition_prio",
        "PreemptMode": "REQUEUE",
    } | dict(options.set)


def partitions(options):
    """`normal` takes nodes from the other two, whose names say what then happens to their jobs."""
    return [
        "PartitionName=normal Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=10 PreemptMode=OFF",
        f"PartitionName=requeue Nodes=ALL MaxTime=INFINITE PriorityTier=1 PreemptMode=REQUEUE"
        f" GraceTime={options.requeue_grace}",
        f"PartitionName=cancel Nodes=ALL MaxTime=INFINITE PriorityTier=1 PreemptMode=CANCEL"
        f" GraceTime={options.cancel_grace}",
    ]


def slurm_conf(directory, options):
    lines = [f"{name}={value}" for name, value in cluster_settings(directory, options).items()]
    gres = f" Gres=gpu:{options.gpus},shard:{4 * options.gpus}" if options.gpus else ""
    for node in range(1, options.nodes + 1):
        lines.append(f"NodeName=n{node} NodeAddr={address(node)} CPUs={options.cpus} CoresPerSocket={options.cpus}"
                     f" RealMemory=4000{gres} State=UNKNOWN")
    return "\n".join(lines + partitions(options)) + "\n"


def gres_conf(directory, options):
    if not options.gpus:
        return ""
    last = options.gpus - 1
    files = f"{directory}/devices/gpu{0 if last == 0 else f'[0-{last}]'}"
    return f"AutoDetect=off\nName=gpu File={files}\nName=shard Count={4 * options.gpus}\n"


def write(directory, options):
    """All files and folders that the daemons expect."""
    for folder in ("state", "log", "node", "devices", *(f"{of_node}/{name}" for of_node in ("spool", "tmp") for name in node_names(options))):
        os.makedirs(os.path.join(directory, folder), mode=0o700)
    for gpu in range(options.gpus):  # nothing is behind them but /dev/null
        os.mknod(os.path.join(directory, "devices", f"gpu{gpu}"), 0o600 | 0o020000, os.makedev(1, 3))
    content = {"slurm.conf": slurm_conf(directory, options), "gres.conf": gres_conf(directory, options),
               "cgroup.conf": "CgroupPlugin=autodetect\n", "hosts": hosts(options), "log/jobcomp.txt": ""}
    for name, text in content.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
            file.write(text)
    key = os.open(os.path.join(directory, "munge.key"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    os.write(key, os.urandom(128))
    os.close(key)
