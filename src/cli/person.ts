import { userInfo } from "node:os";
import type { Command } from "commander";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { exportPerson } from "../privacy/export-person.ts";
import { type ErasedPerson, erasePerson } from "../privacy/person.ts";
import { asPrivacy } from "../privacy/privacy-transaction.ts";
import { counted, print, printable } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	org: string;
	person: string;
	json?: boolean;
}

export function addPerson(program: Command): void {
	const person = program
		.command("person")
		.description("Export or erase a person of the register People.");
	addExport(person);
	addErase(person);
}

function addExport(person: Command): void {
	person
		.command("export")
		.description(
			"Print everything that Assay keeps about a person as JSON: the record, what the person owns, devices, signatures, approvals, mails, entries of the audit log.",
		)
		.requiredOption("--org <id>", "id of the organization")
		.requiredOption(
			"--person <id or address>",
			"id or e-mail address of the person",
		)
		.option("--json", "has no effect: the output is always JSON")
		.action(async (options: Options) => {
			const organizationId = parseOrganizationId(options.org);
			const exported = await withDatabase(({ ownerConnection }) =>
				asPrivacy(ownerConnection, {}, (client) =>
					exportPerson(client, organizationId, options.person),
				),
			);
			printExport(options, exported);
		});
}

function addErase(person: Command): void {
	person
		.command("erase")
		.description(
			"Remove a person's name, addresses, position and dates from the register and the audit log, for good. What the person owned stays, with an owner without a name.",
		)
		.requiredOption("--org <id>", "id of the organization")
		.requiredOption(
			"--person <id or address>",
			"id or e-mail address of the person",
		)
		.option("--clear-devices", "leave the person's devices without an owner")
		.option("--dry-run", "show what would be erased, and change nothing")
		.option("--json", "print the result as JSON")
		.action(
			async (
				options: Options & { clearDevices?: boolean; dryRun?: boolean },
			) => {
				const organizationId = parseOrganizationId(options.org);
				const erased = await withDatabase(({ ownerConnection }) =>
					asPrivacy(
						ownerConnection,
						{ isTrial: options.dryRun ?? false },
						(client) =>
							erasePerson(
								client,
								organizationId,
								options.person,
								operator(),
								options,
							),
					),
				);
				print(
					options,
					{ ...erased, is_dry_run: options.dryRun ?? false },
					describe(erased, options.dryRun),
				);
			},
		);
}

/**
 * Returns the principal of the command line. Its name in the audit log includes the operator's user
 * name on this machine.
 */
export function operator() {
	return {
		...systemPrincipal(),
		name: `command line, ${userInfo().username}`,
	};
}

/**
 * Prints an export as JSON. With --json the output is one line. Otherwise it has line breaks, so
 * that people can read it.
 */
export function printExport(
	options: { json?: boolean },
	exported: Record<string, unknown>,
): void {
	const data = { exported_at: new Date().toISOString(), ...exported };
	print(options, data, JSON.stringify(data, null, 2));
}

function describe(erased: ErasedPerson, isDryRun?: boolean): string {
	const lines = [
		`${isDryRun ? "Nothing was changed. The result would be: p" : "P"}erson ${erased.id} is now "${erased.name}"; ${counted(erased.redacted_entries, "entry", "entries")} of the audit log and ${counted(erased.redacted_versions, "earlier state")} of the record redacted, and ${counted(erased.redacted_snapshots, "snapshot")}.`,
		`Records owned under that name: ${erased.still_owns}; devices left without an owner: ${erased.devices_without_owner}.`,
	];
	for (const { kind, id, name } of erased.mentions) {
		lines.push(
			`Still named in the text of ${kind} ${id}, ${printable(name ?? "")}: change it by hand.`,
		);
	}
	if (erased.mentioned_in_entries > 0) {
		lines.push(
			`Still named in ${counted(erased.mentioned_in_entries, "entry", "entries")} of the audit log about other records; see docs/privacy.md.`,
		);
	}
	if (erased.mentioned_in_versions > 0) {
		lines.push(
			`Still named in ${counted(erased.mentioned_in_versions, "earlier state")} of other records; see docs/privacy.md.`,
		);
	}
	if (erased.mentioned_in_snapshots > 0) {
		lines.push(
			`Still named in ${counted(erased.mentioned_in_snapshots, "record")} of snapshots; an administrator can delete the snapshots.`,
		);
	}
	for (const email of erased.accounts) {
		lines.push(
			`There is a user with this address: assay user erase --email ${email}`,
		);
	}
	return lines.join("\n");
}
