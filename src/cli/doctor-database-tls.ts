import { tlsModeOf } from "../db/postgres-tls.ts";
import type { Finding } from "./doctor.ts";

/** Says whether others can read or change what goes to a PostgreSQL on another machine. */
export function examineDatabaseTls(
	databaseUrl: string,
	setting = "DATABASE_URL",
): Finding[] {
	const check =
		setting === "DATABASE_URL" ? "database connection" : "replica connection";
	const { hostname, searchParams } = new URL(databaseUrl);
	const host = searchParams.get("host") ?? hostname;
	const isHere =
		["", "localhost", "[::1]"].includes(host) || /^(127\.|\/)/.test(host);
	const mode = tlsModeOf(databaseUrl);
	if (isHere || searchParams.get("ssl") === "true") return [];
	if (mode === undefined || mode === "disable") {
		return [
			{
				check,
				status: "warning",
				found: `the connection to PostgreSQL on ${host} is not encrypted`,
				advice: `add sslmode=verify-full to ${setting} (docs/operating.md), unless the network between them is private`,
			},
		];
	}
	if (mode === "require" && !searchParams.has("sslrootcert")) {
		return [
			{
				check,
				status: "warning",
				found: `the connection to ${host} is encrypted, but nobody checks that PostgreSQL answers there`,
				advice:
					"set sslmode=verify-full, and sslrootcert if a private authority signed the certificate (docs/operating.md)",
			},
		];
	}
	return [
		{
			check,
			status: "ok",
			found: `encrypted, with sslmode=${mode}`,
		},
	];
}
