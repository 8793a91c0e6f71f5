import type { Command } from "commander";
import type { AuditEvent } from "../audit/events.ts";
import { appendAccountEvent } from "../audit/log.ts";
import { readConfig } from "../config.ts";
import type { Database } from "../db/database.ts";
import { transaction } from "../db/pool.ts";
import { systemPrincipal } from "../principal.ts";
import { makeResetLink } from "../sign-in/password-reset.ts";
import { type FoundUser, requireUser } from "../sign-in/users.ts";
import { parseEmail } from "./email.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	email: string;
	json?: boolean;
}

/**
 * Adds the commands with which the operator lets a user back in when neither an admin nor a mail
 * can help.
 */
export function addUserRecovery(user: Command): void {
	user
		.command("reset-link")
		.description(
			"Print a link that lets a user set a new password, once, within 24 hours. Earlier links stop working.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: Options) => {
			const { baseUrl } = readConfig(process.env);
			const url = await withDatabase(async (database) => {
				const found = await requireUser(database.identityPool, options.email);
				await note(database, "createPasswordResetLink", found);
				return makeResetLink(database.identityPool, baseUrl, found.id);
			});
			print(options, { email: options.email, reset_url: url }, url);
		});
	user
		.command("reset-two-factor")
		.description(
			"Remove a user's second factor and sign the user out everywhere. Afterwards the password alone is enough to sign in.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: Options) => {
			const changed = await withDatabase(async (database) => {
				const found = await requireUser(database.identityPool, options.email);
				await note(database, "resetTwoFactor", found);
				await removeSecondFactor(database, found.id);
				return { user_id: found.id, email: found.email };
			});
			print(
				options,
				changed,
				`${changed.email} now signs in with the password alone.`,
			);
		});
}

function note(
	{ pool }: Database,
	operation: AuditEvent,
	user: FoundUser,
): Promise<void> {
	return appendAccountEvent(
		pool,
		systemPrincipal(),
		{ operation, outcome: "DONE", user, fields: {} },
		user.memberships.map((membership) => membership.organization_id),
	);
}

function removeSecondFactor(
	{ identityPool }: Database,
	userId: string,
): Promise<void> {
	return transaction(identityPool, {}, async (client) => {
		await client.query("delete from two_factors where user_id = $1", [userId]);
		await client.query(
			"update users set two_factor_enabled = false, updated_at = now() where id = $1",
			[userId],
		);
		await client.query("delete from verifications where value = $1", [userId]);
		await client.query("delete from sessions where user_id = $1", [userId]);
	});
}
