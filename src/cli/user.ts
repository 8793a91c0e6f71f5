import { text as readText } from "node:stream/consumers";
import { type Command, Option } from "commander";
import { appendChanges } from "../audit/log.ts";
import type { Database } from "../db/database.ts";
import { transaction, withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import {
	parseOrganizationId,
	requireOrganization,
} from "../organizations/organization-store.ts";
import { addPersonOf } from "../organizations/person-of-member.ts";
import { ROLES, type Role, systemPrincipal } from "../principal.ts";
import { requireAnother } from "../sign-in/new-password.ts";
import { hashPassword } from "../sign-in/password-hash.ts";
import { requireGoodPassword } from "../sign-in/password-rules.ts";
import {
	addMember,
	createUser,
	findUser,
	requireUser,
	setPassword,
} from "../sign-in/users.ts";
import { reachingTokens } from "../tokens/reaching-tokens.ts";
import { COMMAND } from "../version.ts";
import { parseEmail } from "./email.ts";
import { addInvite } from "./invite.ts";
import { addRemove, addSetRole } from "./member.ts";
import { parseName } from "./org.ts";
import { print, table } from "./output.ts";
import { addUserPrivacy } from "./user-privacy.ts";
import { addUserRecovery, findUnreadableFactors } from "./user-recovery.ts";
import { withDatabase } from "./with-database.ts";

export function addUser(program: Command): void {
	const user = program
		.command("user")
		.description("Manage users, who sign in to Assay.");
	addCreate(user);
	addInvite(user);
	addList(user);
	addSetPassword(user);
	addUserRecovery(user);
	addSetRole(user);
	addRemove(user);
	addUserPrivacy(user);
}

interface CreateOptions {
	email: string;
	name: string;
	org: string;
	role: Role;
	passwordStdin?: boolean;
	json?: boolean;
}

function addCreate(user: Command): void {
	user
		.command("create")
		.description(
			"Create a user who is a member of an organization, or make an existing user a member of another one.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address that the user signs in with",
			parseEmail,
		)
		.requiredOption("--name <name>", "name of the user", parseName)
		.requiredOption("--org <id>", "id of the organization")
		.addOption(
			new Option("--role <role>", "role of the user in the organization")
				.choices(ROLES)
				.makeOptionMandatory(),
		)
		.option(
			"--password-stdin",
			"read the password from standard input; otherwise the user cannot sign in until `user set-password` sets one",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: CreateOptions) => {
			const passwordHash = options.passwordStdin
				? await readNewPassword([options.email, options.name])
				: null;
			const made = await withDatabase((database) =>
				makeMember(database, options, passwordHash),
			);
			print(
				options,
				made,
				`${made.is_new ? "User" : "Existing user"} ${made.email}: ${made.user_id}, ${made.role} of ${made.organization_id}${
					made.is_new && passwordHash === null
						? `

This user cannot sign in yet. Set a password: ${COMMAND} user set-password --email ${made.email}`
						: ""
				}

Next: ${COMMAND} api-token create --user ${made.email} --name <what for>`,
			);
		});
}

async function makeMember(
	{ pool, identityPool }: Database,
	options: CreateOptions,
	passwordHash: string | null,
) {
	const organizationId = parseOrganizationId(options.org);
	const known = await findUser(identityPool, { email: options.email });
	if (known && passwordHash !== null) {
		throw new AppError(
			"bad_request",
			`the user ${known.email} already exists, and this command does not change its password; omit --password-stdin to make the user a member, or use \`assay user set-password\``,
		);
	}
	return withTenant(pool, organizationId, async (client) => {
		await requireOrganization(client, organizationId);
		const { email } = options;
		const name = known?.name ?? options.name;
		const { userId, isNew } = await createUser(client, {
			email,
			name,
			passwordHash,
			addressProof: "COMMAND",
		});
		const change = await addMember(
			client,
			organizationId,
			{ id: userId, name, email },
			options.role,
		);
		await appendChanges(
			client,
			systemPrincipal(),
			"createUser",
			organizationId,
			[
				change,
				...(await addPersonOf(client, organizationId, { name, email })),
				...(await reachingTokens(client, organizationId, userId)),
			],
		);
		return {
			user_id: userId,
			email,
			name,
			organization_id: organizationId,
			role: options.role,
			is_new: isNew,
		};
	});
}

interface ListOptions {
	org?: string;
	assumed?: boolean;
	unreadableTwoFactor?: boolean;
	json?: boolean;
}

function addList(user: Command): void {
	user
		.command("list")
		.description(
			"List the members of an organization, or accounts of all organizations that need attention.",
		)
		.option("--org <id>", "id of the organization")
		.option(
			"--assumed",
			"list the accounts of all organizations that are trusted without a proven e-mail address, because they are old",
		)
		.option(
			"--unreadable-two-factor",
			"list the accounts whose second factor the service cannot decrypt, because its secret was changed",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: ListOptions, command: Command) => {
			const { org, assumed, unreadableTwoFactor } = options;
			const given = [org !== undefined, assumed, unreadableTwoFactor];
			if (given.filter(Boolean).length !== 1) {
				command.error(
					"error: give one of --org <id>, --assumed and --unreadable-two-factor",
				);
			}
			if (assumed) await listAssumed(options);
			else if (unreadableTwoFactor) await listUnreadable(options);
			else if (org !== undefined) await listMembers(org, options);
		});
}

async function listUnreadable(options: ListOptions): Promise<void> {
	const users = await withDatabase(({ identityPool }) =>
		findUnreadableFactors(identityPool),
	);
	print(
		options,
		{ users },
		users.length === 0
			? "The service can decrypt every second factor."
			: table(
					["ID", "E-MAIL"],
					users.map((one) => [one.user_id, one.email]),
				),
	);
}

async function listAssumed(options: ListOptions): Promise<void> {
	const users = await withDatabase(async ({ identityPool }) => {
		const { rows } = await identityPool.query<{
			user_id: string;
			name: string;
			email: string;
		}>(
			"select id as user_id, name, email from users where address_proof = 'ASSUMED' order by email",
		);
		return rows;
	});
	print(
		options,
		{ users },
		users.length === 0
			? "No account is trusted without a proven e-mail address."
			: table(
					["ID", "E-MAIL", "NAME"],
					users.map((one) => [one.user_id, one.email, one.name]),
				),
	);
}

async function listMembers(org: string, options: ListOptions): Promise<void> {
	const organizationId = parseOrganizationId(org);
	const users = await withDatabase(({ pool }) =>
		withTenant(pool, organizationId, async (client) => {
			await requireOrganization(client, organizationId);
			const { rows } = await client.query<{
				user_id: string;
				name: string;
				email: string;
				role: Role;
			}>(
				`select u.id as user_id, u.name, u.email, m.role
				from memberships m join users u on u.id = m.user_id
				where m.organization_id = $1
				order by u.email`,
				[organizationId],
			);
			return rows;
		}),
	);
	print(
		options,
		{ users },
		users.length === 0
			? `No members yet. Create one: ${COMMAND} user create --org ${organizationId} --role admin --email <e-mail> --name <name>`
			: table(
					["ID", "ROLE", "E-MAIL", "NAME"],
					users.map((one) => [one.user_id, one.role, one.email, one.name]),
				),
	);
}

function addSetPassword(user: Command): void {
	user
		.command("set-password")
		.description(
			"Set a user's password, read from standard input, and sign the user out everywhere.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { email: string; json?: boolean }) => {
			const password = await readPassword();
			requireGoodPassword(password, [options.email]);
			const changed = await withDatabase(async ({ pool, identityPool }) => {
				const found = await requireUser(identityPool, options.email);
				await requireAnother(identityPool, found.email, password);
				const passwordHash = await hashPassword(password);
				// The audit entries and the password are written in two transactions, the second within the
				// first. If either write fails, both are rolled back. Only an error during the outer commit
				// could separate them.
				await transaction(pool, {}, async (client) => {
					await appendChanges(
						client,
						systemPrincipal(),
						"setPassword",
						"",
						found.memberships.map(({ organization_id }) => ({
							kind: "member",
							id: found.id,
							name: found.name,
							fields: {},
							organizationId: organization_id,
						})),
					);
					await setPassword(identityPool, found.id, passwordHash);
				});
				return { user_id: found.id, email: found.email };
			});
			print(options, changed, `The password of ${changed.email} is set.`);
		});
}

/**
 * Reads a password from standard input and returns its hash. The password must meet the same rules
 * as in the console. `about` contains texts that are known about the user.
 */
async function readNewPassword(about: string[]): Promise<string> {
	const password = await readPassword();
	requireGoodPassword(password, about);
	return hashPassword(password);
}

/** Returns the password from standard input without a line break at the end. */
async function readPassword(): Promise<string> {
	if (process.stdin.isTTY) {
		process.stderr.write(
			"Type the password, which is visible, then press Enter and Ctrl-D:\n",
		);
	}
	return (await readText(process.stdin)).replace(/\r?\n$/, "");
}
