#!/usr/bin/env bash
#SBATCH --job-name=aegis-sim
#SBATCH --array=1-8
#SBATCH --cpus-per-task=4
#SBATCH --requeue
# One task of a job array does one shard; how many there are, Slurm says itself. Afterwards, once:
#   aegis-sim merge results --out merged
# Usage: sbatch slurm.sh my-experiment.toml results
set -euo pipefail
aegis-sim sweep "$1" --out "$2" --shard auto --resume --jobs "${SLURM_CPUS_PER_TASK:-1}"
