import { Readable } from "node:stream";
import { readTable } from "../csv/read-table.ts";
import { badFields } from "../errors.ts";
import { ROLES, type Role } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { emailSchema } from "../records/text-schemas.ts";
import { MAX_OPEN } from "./max-invitations.ts";

/**
 * Headings of the two columns, as lists from other programs have them. Upper and lower case, spaces,
 * hyphens, underscores and a remark in brackets make no difference.
 */
const HEADINGS = {
	email: [
		"email",
		"emailaddress",
		"mail",
		"mailaddress",
		"primaryemail",
		"primaryemailaddress",
		"workemail",
		"workemailaddress",
	],
	role: ["role", "assayrole"],
} as const;

/** Number and length of headings that a message repeats. */
const MAX_SHOWN = 10;
const MAX_HEADING = 40;

export interface Wanted {
	/** Number of the line in the file. The headings are line 1. */
	line: number;
	email: string;
	role: Role;
}

export interface InvitationFile {
	wanted: Wanted[];
	problems: { line: number; message: string }[];
	/** Headings of the columns that are not read. */
	unknownColumns: string[];
}

/**
 * Reads who is to be invited from CSV. Lines without a role get `defaultRole`. Throws bad_request if
 * the file as a whole is wrong; `problems` names wrong lines.
 */
export async function readInvitationFile(
	csv: string,
	defaultRole: Role,
): Promise<InvitationFile> {
	const { heading, lines } = await readTable(Readable.from([Buffer.from(csv)]));
	const emailAt = findColumn(heading, "email");
	const roleAt = findColumn(heading, "role");
	if (emailAt < 0) {
		throw wrongColumns(
			`must have the column email, and may have the column role; it has ${quoted(heading)}`,
		);
	}
	if (lines.length === 0 || lines.length > MAX_OPEN) {
		throw wrongColumns(
			`must have 1 to ${MAX_OPEN} lines below the headings; it has ${lines.length}`,
		);
	}
	const seen = new Map<string, number>();
	const wanted: Wanted[] = [];
	const problems: InvitationFile["problems"] = [];
	for (const { line, cells } of lines) {
		const parsed = emailSchema().safeParse((cells[emailAt] ?? "").trim());
		const given = (cells[roleAt] ?? "").trim().toLowerCase() || defaultRole;
		const role = ROLES.find((one) => one === given);
		const email = normalAddress(parsed.data ?? "");
		const before = seen.get(email);
		if (!parsed.success) {
			problems.push({
				line,
				message: `email ${parsed.error.issues[0]?.message}`,
			});
		} else if (!role) {
			problems.push({
				line,
				message: `role must be one of ${ROLES.join(", ")}`,
			});
		} else if (before !== undefined) {
			problems.push({
				line,
				message: `has the same address as line ${before}`,
			});
		} else {
			wanted.push({ line, email, role });
		}
		if (parsed.success) seen.set(email, before ?? line);
	}
	const unknownColumns = heading
		.map((name) => name.trim())
		.filter((name, at) => name !== "" && at !== emailAt && at !== roleAt);
	return { wanted, problems, unknownColumns };
}

/**
 * Returns the place of the column, or -1. Throws bad_request if several columns could be the one,
 * because a guess would invite the wrong people.
 */
function findColumn(
	heading: readonly string[],
	column: keyof typeof HEADINGS,
): number {
	const names: readonly string[] = HEADINGS[column];
	const found = heading.filter((name) => names.includes(plainHeading(name)));
	if (found.length > 1) {
		throw wrongColumns(
			`must have one column ${column}; ${quoted(found)} could all be it, so remove the others`,
		);
	}
	return heading.indexOf(found[0] ?? "\0");
}

function plainHeading(name: string): string {
	const [beforeBracket = ""] = name.toLowerCase().split(/[[(]/, 1);
	return beforeBracket.replace(/[\s_-]/g, "");
}

function quoted(names: readonly string[]): string {
	const shown = names
		.slice(0, MAX_SHOWN)
		.map((name) => `"${name.trim().slice(0, MAX_HEADING)}"`);
	const more = names.length > MAX_SHOWN ? " and more" : "";
	return `${shown.join(", ")}${more}`;
}

function wrongColumns(message: string) {
	return badFields([{ field: "csv", message }]);
}
