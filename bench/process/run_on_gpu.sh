#!/usr/bin/env bash
# run_on_gpu.sh BUNDLE: pages a second of plugins/transformers_provider.py on this machine's GPU, driven by the program that
# bench/process/bundle has put into BUNDLE. Needs python3 with torch, transformers and Pillow; downloads nothing.
#   PAGES=128 TOKENS=256 SIZES="16 64 128" DEVICE=cuda SHAPE="--shape 3b"
set -euo pipefail
bundle=${1:?usage: run_on_gpu.sh BUNDLE (made by bench/process/bundle)}
root=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-python3}
device=${DEVICE:-cuda}
pages=${PAGES:-128}
tokens=${TOKENS:-256}
shape=${SHAPE:---shape 3b}
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
"$python" "$root/bench/process/make_pages.py" "$pictures" 32
provider=("$python" -B "$root/plugins/transformers_provider.py" --device "$device")
measure() { # TITLE PAGES TOKENS BATCH_MAX FLAGS…
  echo "== $1"
  "$bundle/run" "$pictures" "$2" "$3" "$4" "${provider[@]}" "${@:5}" 2>"$pictures/log" || { echo "-- failed; the end of its log:"; tail -15 "$pictures/log"; }
}

echo "python $("$python" -c 'import sys, torch, transformers; print(sys.version.split()[0], "torch", torch.__version__, "transformers", transformers.__version__)')"
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,memory.total --format=csv,noheader || true
measure "tiny random vision model, 16 pages in batches of 8" 16 16 8 --tiny-random qwen2.5-vl
for size in ${SIZES:-16 64 128}; do
  measure "$shape, $pages pages, $tokens tokens each, batches up to $size" "$pages" "$tokens" "$size" $shape
done
# Little memory: batches must halve until they fit, and no page may be lost.
[ "$device" = cpu ] || measure "$shape in ${FRACTION:-0.1} of the memory, 64 pages, 32 tokens each, batches up to 64" 64 32 64 $shape --memory-fraction "${FRACTION:-0.1}"
