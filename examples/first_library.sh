#!/usr/bin/env bash
# A first library, from nothing, without a network: the demo's pages are served again as a web, and a new library
# about one of its topics is grown from five of them. Usage: examples/first_library.sh [FOLDER] [PAGES]
set -euo pipefail
examples=$(cd "$(dirname "$0")" && pwd)
PATH="$(dirname "$examples")/.venv/bin:$PATH" # the analecta of this project, where `make` has put it
pages=${2:-600}
mkdir -p "${1:-first-library}"
cd "${1:-first-library}"

# 1. Pages to play with: the demo leaves an archive of the pocket web behind.
analecta demo demo --pages "$pages"

# 2. Five addresses of pages that we like.
python3 "$examples/read_a_library.py" demo beekeeping 5 >seeds.txt

# 3. The archive as a web on this machine; it ends with this script.
analecta replay demo/archive --port 0 >replay.log &
trap 'kill $!' EXIT
until grep -q 'served on' replay.log; do sleep 0.1; done
web=$(grep -o '127\.0\.0\.1:[0-9]*' replay.log | head -1)

# 4. A library, grown, looked at, and written out.
analecta new bees --seeds seeds.txt --topic bees
analecta crawl bees --connect-to "$web" --pages "$((pages / 3))"
analecta status bees
analecta explain bees "$(python3 "$examples/read_a_library.py" bees bees 1)"
analecta export bees pages --format csv -o bees.csv
