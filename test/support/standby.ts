import { execFileSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OwnPostgres } from "../../bench/own-postgres.ts";

/** Copies a server into the folder `copy`, and starts the copy as its standby with this name. */
export async function startStandby(
	primary: OwnPostgres,
	copy: string,
	name: string,
): Promise<OwnPostgres> {
	await primary.stop();
	execFileSync("cp", ["-a", primary.directory, copy]);
	await primary.start();
	const { username, password } = new URL(primary.url);
	writeFileSync(join(copy, "standby.signal"), "");
	appendFileSync(
		join(copy, "postgresql.auto.conf"),
		`primary_conninfo = 'host=${primary.directory} user=${username} password=${password} application_name=${name}'\n`,
	);
	return OwnPostgres.startCopy(primary, copy);
}
