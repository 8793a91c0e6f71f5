import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { buffer } from "node:stream/consumers";
import { type Command, Option } from "commander";
import type { z } from "zod";
import { readConfig } from "../config/config.ts";
import { wrongFile } from "../csv/read-table.ts";
import type { Database } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { invoke, type Services } from "../invoke.ts";
import { makeLogger } from "../log.ts";
import { INVITATION_DAYS } from "../organizations/days.ts";
import { inviteMembers } from "../organizations/invite-many.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import {
	type Principal,
	ROLES,
	type Role,
	systemPrincipal,
} from "../principal.ts";
import { requireUser } from "../sign-in/users.ts";
import { COMMAND } from "../version.ts";
import { parseEmail } from "./email.ts";
import { counted, print, printable, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

type Outcome = z.output<typeof inviteMembers.output>;

interface InviteOptions {
	org: string;
	by: string;
	role: Role;
	dryRun?: boolean;
	json?: boolean;
}

/** Number of skipped addresses and of wrong lines that are printed. */
const SHOWN = 20;

const REASONS: Record<Outcome["skipped"][number]["reason"], string> = {
	MEMBER: "is a member already",
	INVITED: "has an open invitation",
	TOO_OFTEN: "was invited five times within a day",
};

export function addInvite(user: Command): void {
	user
		.command("invite")
		.description(
			"Invite people to an organization from a CSV file with the columns email and role. Members and people with an open invitation are skipped, so the same file can be given again.",
		)
		.argument("<file>", "CSV file in UTF-8; - reads standard input")
		.requiredOption("--org <id>", "id of the organization")
		.requiredOption(
			"--by <address>",
			"e-mail address of an administrator of the organization; the invitations are in this name, and count to this user's limits",
			parseEmail,
		)
		.addOption(
			new Option("--role <role>", "role for lines that name none")
				.choices(ROLES)
				.default("member"),
		)
		.option(
			"--dry-run",
			"show who would be invited and which lines are wrong, and invite nobody",
		)
		.option("--json", "print the result as JSON")
		.action(async (file: string, options: InviteOptions) => {
			const csv = await readText(file);
			await withDatabase((database) => inviteFrom(csv, options, database));
		});
}

async function inviteFrom(
	csv: string,
	options: InviteOptions,
	database: Database,
): Promise<void> {
	const organization_id = parseOrganizationId(options.org);
	const principal = await actFor(options.by, organization_id, database);
	const services = makeServices(database);
	const input = { organization_id, csv, role: options.role };
	const call = (dry_run: boolean) =>
		invoke(services, principal, inviteMembers, { ...input, dry_run });
	const trial = await call(true);
	const { problems } = trial;
	if (options.dryRun) {
		print(options, { ...trial, is_dry_run: true }, describe(trial, true));
		if (problems.length > 0) process.exitCode = 1;
		return;
	}
	if (problems.length > 0) {
		throw new AppError(
			"bad_request",
			`nobody was invited; ${describeProblems(problems)}`,
		);
	}
	const outcome = await call(false);
	print(options, { ...outcome, is_dry_run: false }, describe(outcome, false));
}

/** Returns the operator, who acts in the name of an administrator. The audit log names both. */
async function actFor(
	email: string,
	organizationId: string,
	{ identityPool }: Database,
): Promise<Principal> {
	const { id, name, memberships } = await requireUser(identityPool, email);
	const isAdministrator = memberships.some(
		(one) => one.organization_id === organizationId && one.role === "admin",
	);
	if (!isAdministrator) {
		throw new AppError(
			"bad_request",
			`${email} is not an administrator of ${organizationId}; \`${COMMAND} user list --org ${organizationId}\` lists its members`,
		);
	}
	return {
		...systemPrincipal(organizationId),
		userId: id,
		name,
		client: `command line, ${userInfo().username}`,
	};
}

function makeServices({ pool }: Database): Services {
	const { logLevel, baseUrl, mail } = readConfig(process.env);
	return {
		pool,
		log: makeLogger(logLevel),
		baseUrl,
		// The service looks for queued mails every few seconds.
		mail: mail && { wake: () => {}, idle: async () => {} },
	};
}

async function readText(file: string): Promise<string> {
	let bytes: Uint8Array;
	try {
		bytes = file === "-" ? await buffer(process.stdin) : await readFile(file);
	} catch (cause) {
		throw new AppError(
			"bad_request",
			`the file ${file} cannot be read (${(cause as NodeJS.ErrnoException).code}); the command may run as another user than you, so pass the file on standard input: ${COMMAND} user invite - … < ${file}`,
			{ cause },
		);
	}
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
	} catch {
		throw wrongFile("is not UTF-8 text; save it as CSV UTF-8");
	}
}

function describe(outcome: Outcome, isDryRun: boolean): string {
	const { invited, skipped, problems, unknown_columns } = outcome;
	const people = counted(invited.length, "person", "people");
	const lines = [
		isDryRun
			? `Nobody was invited. ${people} would be${byRole(invited)}.`
			: `${people} invited${byRole(invited)}.`,
	];
	if (unknown_columns.length > 0) {
		lines.push(
			`Not read: the columns ${unknown_columns.map(printable).join(", ")}.`,
		);
	}
	if (skipped.length > 0) {
		lines.push(
			`Skipped: ${skipped.length}`,
			...shortened(
				skipped.map(
					({ line, email, reason }) =>
						`  line ${line}: ${email} ${REASONS[reason]}`,
				),
			),
		);
	}
	if (problems.length > 0) lines.push(describeProblems(problems));
	return [...lines, ...describeMails(invited, isDryRun)].join("\n");
}

function describeMails(
	invited: Outcome["invited"],
	isDryRun: boolean,
): string[] {
	if (invited.length === 0) return [];
	const unsent = invited.filter(({ is_mailed }) => !is_mailed);
	const sent = invited.length - unsent.length;
	if (isDryRun) {
		return sent > 0
			? ["The service would mail them their links."]
			: ["The service sends no mail. You would get links to pass on."];
	}
	const lines =
		sent > 0
			? [
					`Mails are queued for ${sent}. The running service sends them; \`${COMMAND} mail list\` shows those that failed.`,
				]
			: [];
	if (unsent.length === 0) return lines;
	return [
		...lines,
		`${counted(unsent.length, "person gets", "people get")} no mail. Send them their links, which are shown only now. Each works once, within ${INVITATION_DAYS} days, and only for its address.`,
		"",
		table(
			["ADDRESS", "ROLE", "LINK"],
			unsent.map((one) => [one.email, one.role, one.invitation_url ?? ""]),
		),
	];
}

/** Returns " (480 as member, 20 as viewer)". A misspelled column of roles shows here. */
function byRole(invited: Outcome["invited"]): string {
	const counts = Map.groupBy(invited, ({ role }) => role);
	const parts = [...counts].map(([role, all]) => `${all.length} as ${role}`);
	return parts.length > 0 ? ` (${parts.join(", ")})` : "";
}

function describeProblems(problems: Outcome["problems"]): string {
	const wrong = problems.map(
		({ line, message }) => `  line ${line}: ${message}`,
	);
	return [
		`${counted(problems.length, "line")} ${problems.length === 1 ? "is" : "are"} wrong:`,
		...shortened(wrong),
	].join("\n");
}

function shortened(lines: string[]): string[] {
	const more = lines.length - SHOWN;
	return more > 0
		? [
				...lines.slice(0, SHOWN),
				`  and ${more} more (--dry-run --json shows all)`,
			]
		: lines;
}
