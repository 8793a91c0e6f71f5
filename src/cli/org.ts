import { type Command, InvalidArgumentError } from "commander";
import type { Database } from "../db/database.ts";
import { isNewDatabase } from "../db/migrate.ts";
import type { Closure } from "../organizations/closures.ts";
import { createOrganization } from "../organizations/organization-store.ts";
import {
	DEFAULT_TIME_ZONE,
	dayIn,
	isTimeZone,
} from "../organizations/time-zone.ts";
import {
	findTampered,
	readDeletedOrganizations,
} from "../retention/delete-organizations.ts";
import { COMMAND } from "../version.ts";
import { addAuditPackage } from "./audit-package.ts";
import { addClosures } from "./closures.ts";
import { addOrgDomains } from "./org-domains.ts";
import { addOrgSignIn } from "./org-sign-in.ts";
import { addOrgTrust } from "./org-trust.ts";
import { addOrganizationFiles } from "./organization-files.ts";
import { print, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

const MAX_NAME = 1000;

/** Checks that a name has 1 to 1000 characters and no control characters, and returns it. */
export function parseName(text: string): string {
	if (text.trim() === "" || text.length > MAX_NAME || /\p{Cc}/u.test(text)) {
		throw new InvalidArgumentError(
			`Give a text of 1 to ${MAX_NAME} characters without control characters.`,
		);
	}
	return text;
}

/** Checks that a text names a time zone, and returns it. */
function parseTimeZone(text: string): string {
	if (isTimeZone(text)) return text;
	throw new InvalidArgumentError(
		"Give the name of a time zone, such as Europe/Paris or UTC.",
	);
}

interface Create {
	name: string;
	timeZone: string;
	json?: boolean;
}

export function addOrg(program: Command): void {
	const org = program
		.command("org")
		.description(
			"Create, list, suspend, export, import and delete organizations.",
		);
	org
		.command("create")
		.description("Create an organization and print its id.")
		.requiredOption("--name <name>", "name of the organization", parseName)
		.option(
			"--time-zone <zone>",
			"time zone of its days, such as Europe/Paris",
			parseTimeZone,
			DEFAULT_TIME_ZONE,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: Create) => {
			const id = await withDatabase(({ pool, migrated, description }) => {
				// In a new installation, this command may be the first one. If the operator is in the wrong
				// folder, this message reveals it.
				if (isNewDatabase(migrated)) {
					process.stderr.write(`created a new database: ${description}\n`);
				}
				return createOrganization(pool, options.name, options.timeZone);
			}, "make");
			print(
				options,
				{ organization_id: id, name: options.name },
				`Organization ${options.name}: ${id}

Next: ${COMMAND} user create --org ${id} --role admin --email <e-mail> --name <name>
      ${COMMAND} device create --org ${id} --name <device>`,
			);
		});
	addClosures(org);
	addOrganizationFiles(org);
	addAuditPackage(org);
	addDeleted(org);
	addOrgDomains(org);
	addOrgSignIn(org);
	addOrgTrust(org);
	org
		.command("list")
		.description("List all organizations.")
		.option("--json", "print the result as JSON")
		.action(async (options: { json?: boolean }) => {
			const organizations = await withDatabase(listOrganizations);
			print(
				options,
				{ organizations },
				organizations.length === 0
					? `No organizations yet. Create one: ${COMMAND} org create --name <name>`
					: table(
							["ID", "MEMBERS", "STATE", "NAME"],
							organizations.map((one) => [
								one.id,
								String(one.members),
								stateOf(one),
								one.name,
							]),
						),
			);
		});
}

function addDeleted(org: Command): void {
	org
		.command("deleted")
		.description(
			"List what stays of deleted organizations, and check that nobody has changed the list.",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { json?: boolean }) => {
			const deleted = await withDatabase(({ identityPool }) =>
				readDeletedOrganizations(identityPool),
			);
			const tampered = findTampered(deleted);
			print(
				options,
				{ organizations: deleted, first_tampered: tampered ?? null },
				deleted.length === 0
					? "No organization was deleted."
					: table(
							["NUMBER", "ID", "DELETED AT", "AUDIT ENTRIES", "NAME"],
							deleted.map((one) => [
								String(one.number),
								one.organization_id,
								one.deleted_at,
								String(one.last_sequence),
								one.name,
							]),
						),
			);
			if (tampered === undefined) return;
			process.stderr.write(
				`assay: the list was changed: number ${tampered} is not what was written, or the one before it is missing\n`,
			);
			process.exitCode = 1;
		});
}

function stateOf({
	closure,
	delete_after,
	time_zone,
}: {
	closure: Closure["kind"] | null;
	delete_after: string | null;
	time_zone: string;
}): string {
	if (closure === null) return "open";
	return delete_after === null
		? "suspended"
		: `deleted after ${dayIn(time_zone, delete_after)}`;
}

/**
 * Lists all organizations. The query uses the role assay_identity, because the service's own role
 * sees only the organizations of one user.
 */
async function listOrganizations({ identityPool }: Database) {
	const { rows } = await identityPool.query<{
		id: string;
		name: string;
		created_at: Date;
		members: number;
		closure: Closure["kind"] | null;
		delete_after: string | null;
		time_zone: string;
	}>(
		`select o.id, o.name, o.created_at, o.time_zone,
			(select count(*)::integer from memberships m where m.organization_id = o.id) as members,
			c.kind as closure, to_json(c.delete_after) #>> '{}' as delete_after
		from organizations o left join organization_closures c on c.organization_id = o.id
		order by o.created_at, o.id`,
	);
	return rows;
}
