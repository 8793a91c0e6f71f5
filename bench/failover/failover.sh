#!/usr/bin/env bash
# High availability tried for real with Debian's packages, as configured in deploy/: bench/failover/failover.ts
# says what it does (--help). Needs a PostgreSQL 15, Patroni, etcd and HAProxy, which Debian starts
# after their installation; the bench starts its own, on other addresses.
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
