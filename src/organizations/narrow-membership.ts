import { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";
import type { AnyOperation } from "../operation.ts";
import type { Membership, Role } from "../principal.ts";

/** What a membership may be narrowed to, besides its role. */
export interface Limits {
	/** The last day on which it counts, as YYYY-MM-DD. Null: it has no end. */
	ends_on: string | null;
	/** The toolsets of the registers that a member may write. Null: all. */
	writable_registers: string[] | null;
	reads_audit_log: boolean;
}

export const limitsShape = {
	ends_on: z
		.string()
		.nullable()
		.describe("Last day of the membership; null: no end"),
	writable_registers: z
		.array(z.string())
		.nullable()
		.describe("Registers that the member may write; null: all"),
	reads_audit_log: z.boolean().describe("May read the audit log"),
};

export const limitsInput = {
	ends_on: z.iso
		.date("must be a day such as 2027-03-31")
		.nullable()
		.optional()
		.describe("Last day of the membership, not for an admin; null: no end"),
	writable_registers: z
		.array(z.string().max(100))
		.min(1)
		.max(50)
		.nullable()
		.optional()
		.describe(
			"Toolsets of the only registers that a member may write, such as risks; null: all",
		),
	reads_audit_log: z
		.boolean()
		.optional()
		.describe("Lets a viewer or member read the audit log, as auditors do"),
};

/**
 * Checks the limits of a membership with this role. `registers` are the toolsets of all registers,
 * and `today` is the day of the organization. Throws bad_request.
 */
export function requireLimits(
	role: Role,
	limits: Limits,
	registers: readonly string[],
	today: string,
): void {
	const issues: FieldIssue[] = [];
	const { ends_on, writable_registers, reads_audit_log } = limits;
	if (ends_on !== null && role === "admin") {
		issues.push({
			field: "ends_on",
			message:
				"must be null for an admin, because an organization must not lose its last one by the clock",
		});
	} else if (ends_on !== null && ends_on < today) {
		issues.push({
			field: "ends_on",
			message: `must be ${today} or later`,
		});
	}
	if (writable_registers && role !== "member") {
		issues.push({
			field: "writable_registers",
			message: "must be null unless the role is member",
		});
	}
	writable_registers?.forEach((name, index) => {
		if (registers.includes(name)) return;
		issues.push({
			field: `writable_registers[${index}]`,
			message: `must be one of ${registers.join(", ")}`,
		});
	});
	if (reads_audit_log && role === "admin") {
		issues.push({
			field: "reads_audit_log",
			message: "must be false for an admin, who reads the audit log anyway",
		});
	}
	if (issues.length > 0) throw badFields(issues);
}

/** Tools of administrators that a membership with `reads_audit_log` may call. */
const OF_AUDITORS: ReadonlySet<string> = new Set([
	"listAuditLog",
	"verifyAuditLog",
]);

/** Returns true if the membership lets its user call this tool of administrators. */
export function mayAsAuditor(
	{ readsAuditLog }: Membership,
	{ name }: Pick<AnyOperation, "name">,
): boolean {
	return readsAuditLog === true && OF_AUDITORS.has(name);
}

/** Toolsets with which members discuss and arrange, and change no register. */
const BESIDE_REGISTERS: ReadonlySet<string> = new Set(["comments", "views"]);

/** Toolsets and tools that belong to the register of another toolset. */
const PART_OF: Readonly<Record<string, string>> = {
	vendor_reviews: "vendors",
	applicability: "frameworks",
	assignTask: "tasks",
	unassignTask: "tasks",
};

/** Operations by which people decide, sign and answer for themselves. */
const IN_PERSON: ReadonlySet<string> = new Set([
	"answerDeviceClaim",
	"approveDocumentVersion",
	"rejectDocumentVersion",
	"requestOwnDeviceException",
	"signDocumentVersion",
]);

/** Tools that check the registers of each call themselves. */
const OF_EVERY_REGISTER: ReadonlySet<string> = new Set([
	"addRecords",
	"archiveRecords",
	"linkRecords",
	"unlinkRecords",
	...["Measure", "Document", "Audit", "Snapshot"].flatMap((kind) => [
		`linkControl${kind}`,
		`unlinkControl${kind}`,
	]),
]);

/**
 * Returns why the membership does not permit a call that writes to the toolset. Returns undefined if
 * it does.
 */
export function outOfRegisters(
	{ writableRegisters }: Membership,
	{
		name,
		toolset,
		isReadOnly,
	}: Pick<AnyOperation, "name" | "toolset" | "isReadOnly">,
): string | undefined {
	if (!writableRegisters || isReadOnly) return undefined;
	if (
		writableRegisters.includes(PART_OF[name] ?? PART_OF[toolset] ?? toolset)
	) {
		return undefined;
	}
	if (BESIDE_REGISTERS.has(toolset)) return undefined;
	if (OF_EVERY_REGISTER.has(name) || IN_PERSON.has(name)) return undefined;
	return `permission denied: your membership may write only the registers ${writableRegisters.join(", ")}, and ${name} does not belong to them; ask an administrator`;
}
