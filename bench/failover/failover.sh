#!/usr/bin/env bash
# Tests high availability with Debian's packages, configured as in deploy/. --help says what the
# benchmark does. It needs PostgreSQL 15, Patroni, etcd and HAProxy. Debian starts them when they
# are installed; the benchmark starts its own copies on other addresses.
set -euo pipefail
cd "$(dirname "$0")/../.."

packages=()
command -v patroni >/dev/null || packages+=(patroni)
command -v etcd >/dev/null || packages+=(etcd-server)
[ -x /usr/sbin/haproxy ] || packages+=(haproxy)
[ -x /usr/lib/postgresql/15/bin/pg_rewind ] || packages+=(postgresql-15)
if [ ${#packages[@]} -gt 0 ]; then
	echo "install first: apt-get install --no-install-recommends ${packages[*]}" >&2
	exit 2
fi
PATH="$PWD/node_modules/.bin:$PATH" exec node bench/failover/failover.ts "$@"
