#!/usr/bin/env bash
# Shards on several machines that share a file system, by GNU parallel over ssh; machines are listed in the file `machines`.
# Without --sshloginfile they run on this machine. Afterwards, once:
#   aegis-sim merge results --out merged
# Usage: parallel.sh my-experiment.toml results [--sshloginfile machines --workdir .]
set -euo pipefail
experiment=$1 results=$2
shift 2
parallel "$@" aegis-sim sweep "$experiment" --out "$results" --shard {}/8 --resume ::: 1 2 3 4 5 6 7 8
