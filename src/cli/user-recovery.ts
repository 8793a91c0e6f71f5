import type { Command } from "commander";
import type { Pool } from "pg";
import type { AuditEvent } from "../audit/events.ts";
import { appendAccountEvent } from "../audit/log.ts";
import { readConfig } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { systemPrincipal } from "../principal.ts";
import { RESET_LINK_HOURS } from "../sign-in/link-hours.ts";
import { removePasskeys } from "../sign-in/passkeys/passkey-store.ts";
import { makeResetLink } from "../sign-in/password-reset.ts";
import { examineEncryption } from "../sign-in/second-factor-encryption.ts";
import { readSecret } from "../sign-in/server-secret.ts";
import { type FoundUser, requireUser } from "../sign-in/users.ts";
import { parseEmail } from "./email.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	email: string;
	json?: boolean;
}

interface ResetOptions {
	email?: string;
	unreadable?: boolean;
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
			`Print a link that lets a user set a new password, once, within ${RESET_LINK_HOURS} hours. Earlier links stop working.`,
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
			"Remove the second factor and the passkeys of a user, or of every user whose second factor the service cannot decrypt. The users are signed out everywhere. Afterwards their passwords alone are enough to sign in.",
		)
		.option("--email <address>", "e-mail address of the user", parseEmail)
		.option(
			"--unreadable",
			"remove every second factor that the service cannot decrypt, because its secret was changed",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: ResetOptions, command: Command) => {
			const { email } = options;
			if ((email === undefined) === !options.unreadable) {
				command.error("error: give either --email <address> or --unreadable");
			}
			await withDatabase(async (database) => {
				if (email !== undefined) {
					const changed = await resetTwoFactor(database, email);
					const text = `${email} now signs in with the password alone.`;
					print(options, changed, text);
					return;
				}
				const unreadable = await findUnreadableFactors(database.identityPool);
				const users = [];
				for (const one of unreadable) {
					users.push(await resetTwoFactor(database, one.email));
				}
				print(
					options,
					{ users },
					users.length === 0
						? "The service can decrypt every second factor. Nothing was changed."
						: `These users now sign in with the password alone:\n${users.map((one) => one.email).join("\n")}`,
				);
			});
		});
	user
		.command("unlink-provider")
		.description(
			"Unlink a user from the identity provider, and sign the user out everywhere. The next person who signs in there with the user's address gets the account.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { email: string; json?: boolean }) => {
			const { email } = options;
			const user = await withDatabase((database) =>
				unlinkProvider(database, email),
			);
			print(
				options,
				user,
				`${email} is unlinked. The next person who signs in at the identity provider with this address gets the account.`,
			);
		});
}

/** Throws not_found if the user has never signed in with an identity provider. */
async function unlinkProvider(database: Database, email: string) {
	const found = await requireUser(database.identityPool, email);
	await transaction(database.identityPool, {}, async (client) => {
		const { rowCount } = await client.query(
			"delete from accounts where user_id = $1 and provider_id <> 'credential'",
			[found.id],
		);
		if (rowCount === 0) {
			throw new AppError(
				"not_found",
				`${email} is not linked to an identity provider, because nobody has signed in there with this account; nothing was changed`,
			);
		}
		await client.query("delete from sessions where user_id = $1", [found.id]);
	});
	await note(database, "unlinkProvider", found);
	return { user_id: found.id, email: found.email };
}

async function resetTwoFactor(database: Database, email: string) {
	const found = await requireUser(database.identityPool, email);
	await note(database, "resetTwoFactor", found);
	await removeSecondFactor(database, found.id);
	return { user_id: found.id, email: found.email };
}

/** Returns the accounts whose second factor neither of the configured secrets decrypts. */
export async function findUnreadableFactors(
	identityPool: Pool,
): Promise<{ user_id: string; email: string }[]> {
	const config = readConfig(process.env);
	const { previousSecret } = config;
	const secret = await readSecret(config);
	const examined = await examineEncryption(identityPool, {
		secret,
		previousSecret,
	});
	return examined
		.filter(({ encryption }) => encryption === "UNREADABLE")
		.map(({ user_id, email }) => ({ user_id, email }));
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
		await removePasskeys(client, userId);
		await client.query(
			"update users set two_factor_enabled = false, updated_at = now() where id = $1",
			[userId],
		);
		await client.query("delete from verifications where value = $1", [userId]);
		await client.query("delete from sessions where user_id = $1", [userId]);
	});
}
