import { z } from "zod";
import { byteaArray, textArray } from "../db/array.ts";
import { makeId } from "../id.ts";
import { type Change, defineOperation } from "../operation.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { lockDevices, revokeTokens } from "./device-changes.ts";
import { DEFAULT_TOKEN_DAYS } from "./enrollment.ts";
import { fleetOperation, fleetShape } from "./fleet-input.ts";
import { tokenDays } from "./write-operations.ts";

interface Reissued {
	device_id: string;
	name: string | null;
	hostname: string | null;
	serial_number: string | null;
	/** The status before the call. */
	status: string;
	expires_at: string;
}

export const reissueEnrollmentTokens = defineOperation({
	...fleetOperation,
	isIdempotent: false,
	name: "reissueEnrollmentTokens",
	title: "Reissue enrollment tokens",
	description:
		"Get a new one-shot enrollment token for each of many devices, as reissueEnrollmentToken does for one. The tokens are shown only now.",
	input: z.strictObject({
		...fleetShape,
		enrollment_token_expires_in_days: tokenDays,
	}),
	output: z.object({
		tokens: z.array(
			z.object({
				device_id: z.string(),
				name: z.string().nullable(),
				hostname: z.string().nullable(),
				serial_number: z.string().nullable(),
				enrollment_token: z
					.string()
					.describe("A secret that works once. Keep it out of logs"),
				enrollment_token_expires_at: z.string(),
			}),
		),
		server_url: z.string(),
	}),
	run: async (context, input) => {
		const ids = [...new Set(input.device_ids)];
		await revokeTokens(context, ids);
		const [organizationId] = await lockDevices(context, ids);
		const secrets = new Map(ids.map((id) => [id, makeSecret("enr")]));
		// Another device may use the hardware of a revoked one by now, so its row no longer claims it.
		const { rows } = await context.client.query<Reissued>(
			`with locked as materialized (
				select * from devices where organization_id = $1 and id = any($2::text[])
			), changed as (
				update devices d
				set
					status = 'PENDING', revoked_at = null, updated_at = now(),
					hardware_uuid = null, hardware_hash = null
				from locked b
				where d.organization_id = $1 and d.id = b.id and b.status = 'REVOKED'
			), made as (
				insert into enrollment_tokens
					(organization_id, id, device_id, name, token_hash, expires_at, created_by)
				select $1, g.id, b.id, coalesce(b.name, left(b.hostname, 200), b.id), g.hash,
					now() + $5 * interval '1 day', $6
				from unnest($2::text[], $3::text[], $4::bytea[]) g (device_id, id, hash)
				join locked b on b.id = g.device_id
				returning device_id, expires_at
			)
			select b.id as device_id, b.name, b.hostname, b.serial_number, b.status, m.expires_at
			from locked b
			join made m on m.device_id = b.id
			order by b.id`,
			[
				organizationId,
				textArray(ids),
				textArray(
					ids.map(() => makeId(input.organization_id, "enrollment_token")),
				),
				byteaArray(ids.map((id) => hashSecret(secrets.get(id) as string))),
				input.enrollment_token_expires_in_days ?? DEFAULT_TOKEN_DAYS,
				context.principal.name,
			],
		);
		for (const { device_id: id, name, hostname, status, expires_at } of rows) {
			const fields: Change["fields"] = {
				enrollment_token_expires_at: { after: expires_at },
			};
			if (status === "REVOKED") {
				fields.status = { before: status, after: "PENDING" };
			}
			context.changed({ kind: "device", id, name: name ?? hostname, fields });
		}
		return {
			tokens: rows.map(({ status, expires_at, ...row }) => ({
				...row,
				enrollment_token: secrets.get(row.device_id) as string,
				enrollment_token_expires_at: expires_at,
			})),
			server_url: context.services.baseUrl,
		};
	},
});
