import type { Client } from "pg";
import { readMigrations } from "../db/migrate.ts";
import { makeRoles } from "../db/own-roles.ts";
import { readSeparation } from "../db/separation.ts";
import { isReadOnlyDatabase } from "../db/sqlstate.ts";
import { AppError } from "../errors.ts";
import { COMMAND } from "../version.ts";
import type { Finding } from "./doctor.ts";

/**
 * Says whether the login may make the roles that the pending migrations need. It makes them in a
 * transaction and rolls back, because PostgreSQL's rules differ between versions.
 */
export async function examineRoles(
	client: Client,
	applied: number,
): Promise<Finding> {
	const check = "roles";
	await client.query("begin");
	try {
		const { statements } = await makeRoles(
			client,
			readMigrations().slice(applied),
		);
		return {
			check,
			status: "ok",
			found:
				statements.length === 0
					? "the migrations find every role that they need"
					: "the login may make the roles that the migrations need",
		};
	} catch (error) {
		if (isReadOnlyDatabase(error)) {
			return { check, status: "ok", found: "this server makes no roles" };
		}
		if (!(error instanceof AppError)) throw error;
		return {
			check,
			status: "problem",
			found: error.message,
			advice: "do this before you stop the service for the upgrade",
		};
	} finally {
		await client.query("rollback");
	}
}

/** Says which other logins of the server reach this database. */
export async function examineSeparation(client: Client): Promise<Finding> {
	const check = "separation";
	const found: string[] = [];
	const advice: string[] = [];
	const { database, shared, members, creators, reached, guests } =
		await readSeparation(client);
	if (creators.length > 0) {
		found.push(
			`before PostgreSQL 16 a login that may create roles can take every role, also those of this database: ${creators.join(", ")}`,
		);
		advice.push(
			"alter role … nocreaterole; an installation needs it only for set-up",
		);
	}
	if (members.length > 0) {
		found.push(`other logins can read this database: ${members.join(", ")}`);
		advice.push(
			shared.length > 0
				? `${COMMAND} separate`
				: "revoke the roles of this database from them (\\drg or \\du in psql lists these)",
		);
	} else if (shared.length > 0) {
		found.push(
			`the roles of older versions still have rights here (${shared.map((one) => one.shared).join(", ")})`,
		);
		advice.push(
			`${COMMAND} separate, when no process of an older version runs`,
		);
	}
	if (reached.length > 0) {
		found.push(
			`the roles of this database also have rights in ${reached.join(", ")}, probably a copy`,
		);
		advice.push("restore a backup into a new database instead of copying one");
	}
	if (guests.length > 0) {
		found.push(
			`these logins may connect to ${database} because everyone may: ${guests.join(", ")}`,
		);
		advice.push(`${COMMAND} separate lists the logins that would lose access`);
	}
	return found.length === 0
		? {
				check,
				status: "ok",
				found: "no other login reaches this database, except superusers",
			}
		: {
				check,
				status: "warning",
				found: found.join("; "),
				advice: advice.join("; "),
			};
}
