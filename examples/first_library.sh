#!/usr/bin/env bash
# A first library, from nothing, without a network: the demo's pages are served again as a web, and a new library
# about two of its topics is grown from five pages of each. Usage: examples/first_library.sh [FOLDER] [PAGES]
set -euo pipefail
examples=$(cd "$(dirname "$0")" && pwd)
PATH="$(dirname "$examples")/.venv/bin:$PATH" # the analecta of this project, where `make` has put it
pages=${2:-600}
mkdir -p "${1:-first-library}"
cd "${1:-first-library}"

# 1. Pages to play with: the demo leaves an archive of the pocket web behind.
analecta demo demo --pages "$pages"

# 2. Addresses of pages that we like, five of each topic.
python3 "$examples/read_a_library.py" demo beekeeping 5 >bees.txt
python3 "$examples/read_a_library.py" demo "sourdough baking" 5 >bread.txt

# 3. The archive as a web on this machine; it ends with this script.
analecta replay demo/archive --port 0 >replay.log &
trap 'kill $!' EXIT
until grep -q 'served on' replay.log; do sleep 0.1; done
web=$(grep -o '127\.0\.0\.1:[0-9]*' replay.log | head -1)

# 4. A library: made, its examples looked at, grown, looked at.
analecta new hobbies --seeds bees.txt --topic bees
analecta add hobbies --seeds bread.txt --topic bread
analecta health hobbies --connect-to "$web"
analecta crawl hobbies --connect-to "$web" --pages "$((pages / 2))"
analecta status hobbies
analecta explain hobbies "$(python3 "$examples/read_a_library.py" hobbies bees 1)"

# 5. Found in it: communities of sites, pages by their words; and what a person says of a page is learnt from.
analecta communities hobbies
analecta search hobbies 'queen cells' --top 3
analecta feedback hobbies "$(python3 "$examples/read_a_library.py" hobbies bees 1)" --good
analecta retrain hobbies

# 6. What others can read: the best pages, a map, a site, a table, and the archive for replay.
analecta collection hobbies --top 5
analecta analyse hobbies
analecta map hobbies -o map.html
analecta publish hobbies -o site
analecta export hobbies collection --topic bees --format csv -o bees.csv
analecta export hobbies archive --format wacz -o hobbies.wacz
