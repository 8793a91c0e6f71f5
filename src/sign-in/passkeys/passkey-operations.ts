import { z } from "zod";
import { AppError } from "../../errors.ts";
import { type Context, defineOperation } from "../../operation.ts";
import { nameSchema } from "../../records/text-schemas.ts";
import { requireFreshProof } from "../fresh-proof.ts";
import { noteEverywhere } from "../profile-operations.ts";
import { relyingPartyId } from "./relying-party.ts";

const self = {
	toolset: "profile",
	surface: "console",
	access: "self",
	tenant: null,
} as const;

const MAX_NAME = 100;

const id = z
	.string()
	.regex(/^[\w-]{1,64}$/, "must be the id of a passkey")
	.describe("The passkey");

const passkey = z.object({
	id: z.string(),
	name: z.string(),
	can_sign_in: z
		.boolean()
		.describe("false: only a second factor after the password"),
	is_synced: z.boolean().describe("A password manager copies it to devices"),
	works_here: z
		.boolean()
		.describe("false: it was made for another address of this service"),
	created_at: z.string(),
	last_used_at: z.string().nullable(),
});

export const listPasskeys = defineOperation({
	...self,
	name: "listPasskeys",
	title: "List your passkeys",
	description: "List the passkeys with which you can sign in.",
	isReadOnly: true,
	input: z.strictObject({}),
	output: z.object({ passkeys: z.array(passkey) }),
	run: async ({ client, services }) => {
		const { rows } = await client.query("select * from own_passkeys()");
		const rpId = relyingPartyId(services.baseUrl);
		return {
			passkeys: rows.map(({ rp_id, ...row }) => ({
				...row,
				works_here: rp_id === rpId,
			})) as never,
		};
	},
});

export const renamePasskey = defineOperation({
	...self,
	name: "renamePasskey",
	title: "Rename a passkey",
	description: "Change the name by which you know one of your passkeys.",
	isIdempotent: true,
	input: z.strictObject({ id, name: nameSchema(MAX_NAME) }),
	output: z.object({ id: z.string(), name: z.string() }),
	run: async (context, { id, name }) => {
		const { rows } = await context.client.query<{ old: string | null }>(
			"select rename_own_passkey($1, $2) as old",
			[id, name],
		);
		const old = rows[0]?.old;
		if (old == null) throw noPasskey(id);
		if (old !== name) note(context, { before: old, after: name });
		return { id, name };
	},
});

export const removePasskey = defineOperation({
	...self,
	name: "removePasskey",
	title: "Remove a passkey",
	description:
		"Remove one of your passkeys. It no longer signs in, and the other sessions that began with it end. The only second factor of an account cannot be removed.",
	isDestructive: true,
	input: z.strictObject({ id }),
	output: z.object({ removed_passkey_id: z.string() }),
	run: async (context, { id }) => {
		await requireFreshProof(context);
		const { client, principal, services } = context;
		const { rows } = await client.query<{
			outcome: "ABSENT" | "LAST_FACTOR" | "REMOVED";
			name: string;
		}>("select * from remove_own_passkey($1, $2, $3)", [
			id,
			principal.sessionId ?? null,
			relyingPartyId(services.baseUrl) ?? null,
		]);
		const { outcome, name } = rows[0] ?? { outcome: "ABSENT" };
		if (outcome === "ABSENT") throw noPasskey(id);
		if (outcome === "LAST_FACTOR") {
			throw new AppError(
				"conflict",
				"this passkey is your only second factor; add another passkey or an authenticator app first, or turn off two-factor authentication",
			);
		}
		note(context, { before: name });
		return { removed_passkey_id: id };
	},
});

function note(
	context: Context,
	change: { before?: string | undefined; after?: string },
): void {
	noteEverywhere(context, context.principal.name, { passkey: change });
}

function noPasskey(id: string): AppError {
	return new AppError(
		"not_found",
		`you have no passkey ${id}; it may have been removed already`,
	);
}
