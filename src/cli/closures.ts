import { type Command, InvalidArgumentError } from "commander";
import { readArchiveFiles } from "../archive/archive-files.ts";
import { withTenant } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import {
	type Closure,
	MAX_REASON,
	openOrganization,
	planDeletion,
	suspendOrganization,
} from "../organizations/closures.ts";
import { GRACE_DAYS } from "../organizations/days.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { COMMAND } from "../version.ts";
import { counted, print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	reason: string;
	name?: string;
	json?: boolean;
}

/** Checks that a reason is one line of 1 to 500 characters, and returns it. */
function parseReason(text: string): string {
	const reason = text.trim();
	if (reason === "" || reason.length > MAX_REASON || /\p{Cc}/u.test(reason)) {
		throw new InvalidArgumentError(
			`Give one line with 1 to ${MAX_REASON} characters.`,
		);
	}
	return reason;
}

/** Adds the commands that close an organization and open it again. */
export function addClosures(org: Command): void {
	const add = (name: string, description: string) =>
		org
			.command(`${name} <id>`)
			.description(description)
			.option("--json", "print the result as JSON");

	add(
		"suspend",
		"Suspend an organization: its agents wait, and nobody else reaches it. Nothing is deleted.",
	)
		.requiredOption(
			"--reason <text>",
			"sentence that everybody reads who is turned away",
			parseReason,
		)
		.action(async (id: string, options: Options) => {
			const closure = await change(id, (client, organizationId) =>
				suspendOrganization(
					client,
					systemPrincipal(),
					organizationId,
					options.reason,
				),
			);
			show(
				options,
				id,
				closure,
				`${closure.name} is suspended within a few seconds. ${COMMAND} org resume ${id} ends this.`,
			);
		});

	add("resume", "End the suspension of an organization.").action(
		async (id: string, options: Options) => {
			const closure = await change(id, (client, organizationId) =>
				openOrganization(
					client,
					systemPrincipal(),
					organizationId,
					"SUSPENDED",
				),
			);
			show(options, id, undefined, `${closure.name} works again.`);
		},
	);

	add(
		"delete",
		`Close an organization at once, and delete it with everything in it after ${GRACE_DAYS} days.`,
	)
		.requiredOption(
			"--name <name>",
			"name of the organization, to be sure that it is the right one",
		)
		.requiredOption(
			"--reason <text>",
			"sentence that everybody reads who is turned away",
			parseReason,
		)
		.action(async (id: string, options: Options) => {
			const closure = await change(id, async (client, organizationId) => {
				const planned = await planDeletion(
					client,
					systemPrincipal(),
					organizationId,
					options.reason,
				);
				if (planned.name !== options.name) {
					throw new AppError(
						"bad_request",
						`--name must be the name of the organization, which is "${planned.name}"; nothing was changed`,
					);
				}
				return planned;
			});
			show(
				options,
				id,
				closure,
				`${closure.name} is closed within a few seconds, and will be deleted after ${closure.delete_after}. Until then ${COMMAND} org restore ${id} brings it back.${await describeArchive(id)}`,
			);
		});

	add(
		"restore",
		"Bring back an organization that waits for its deletion.",
	).action(async (id: string, options: Options) => {
		const closure = await change(id, (client, organizationId) =>
			openOrganization(client, systemPrincipal(), organizationId, "DELETION"),
		);
		show(
			options,
			id,
			undefined,
			`${closure.name} works again. If it was suspended before, ${COMMAND} org suspend suspends it again.`,
		);
	});
}

function change(
	id: string,
	work: (
		client: Parameters<typeof suspendOrganization>[0],
		organizationId: string,
	) => Promise<Closure>,
): Promise<Closure> {
	const organizationId = parseOrganizationId(id);
	return withDatabase(({ pool }) =>
		withTenant(pool, organizationId, (client) => work(client, organizationId)),
	);
}

function show(
	options: { json?: boolean },
	id: string,
	closure: Closure | undefined,
	text: string,
): void {
	print(options, { organization_id: id, closure: closure ?? null }, text);
}

/**
 * Says how many files of the archive the deletion includes. Returns an empty text if there are
 * none.
 */
async function describeArchive(id: string): Promise<string> {
	const files = await withDatabase(({ ownerConnection }) =>
		readArchiveFiles(ownerConnection, parseOrganizationId(id)),
	);
	if (files.length === 0) return "";
	const only = files.filter(({ is_only_copy }) => is_only_copy).length;
	return `
The deletion includes ${counted(files.length, "file")} of the archive. ${only === 0 ? "" : `The reports in ${only} of them are nowhere else. `}To keep them, copy the folder organization_id=${id} of the archive before.`;
}
