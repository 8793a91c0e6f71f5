import { textArray } from "../db/array.ts";
import {
	DEFAULT_GRACE_DAYS,
	DEFAULT_NEW_DEVICE_GRACE_DAYS,
} from "./check-rules.ts";
import { CHECK_KEYS, PLATFORMS } from "./terms.ts";

const literal = (texts: readonly string[]) => `'${textArray(texts)}'::text[]`;

/**
 * Returns a query for the checks that the policies of the organization $1 require: its own policy,
 * and those of groups. There is one row a check, so that a statement can judge each device by the
 * policy that applies to it.
 *
 * | column | meaning |
 * |---|---|
 * | `check_key` | |
 * | `platforms` | platforms on which any policy requires the check |
 * | `usual_platforms` | platforms on which the organization's policy requires it |
 * | `grace`, `new_device_grace` | days of grace by the organization's policy |
 * | `by_policy` | what the policies of groups replace, as JSON by the policy's id, or null |
 * | `longest_new_device_grace` | longest grace of a new device by any policy |
 *
 * `isRequired`, `graceOf` and `newDeviceGraceOf` read a row for a device.
 */
export const requiredChecks = (at: string | undefined) => {
	const inForce = (rule: string) =>
		at === undefined
			? `${rule}.valid_until is null`
			: `${rule}.valid_from <= ${at} and coalesce(${rule}.valid_until > ${at}, true)`;
	return `
	select
		k.check_key,
		case when g.is_required then ${literal(PLATFORMS)} else k.usual_platforms end as platforms,
		k.usual_platforms, k.grace, k.new_device_grace, g.by_policy,
		greatest(k.new_device_grace, g.new_device_grace) as longest_new_device_grace
	from (
		select
			c.check_key,
			case
				when coalesce(r.is_required, c.check_key = any(${literal(CHECK_KEYS)}))
					then coalesce(r.platforms, ${literal(PLATFORMS)})
				else '{}'
			end as usual_platforms,
			coalesce(r.grace_days, ${DEFAULT_GRACE_DAYS}) * interval '1 day' as grace,
			coalesce(r.new_device_grace_days, ${DEFAULT_NEW_DEVICE_GRACE_DAYS}) * interval '1 day' as new_device_grace
		from (
			select unnest(${literal(CHECK_KEYS)}) collate "C" as check_key
			union
			select x.check_key from device_check_rules x where x.organization_id = $1
			union
			select x.check_key from device_group_policy_rules x where x.organization_id = $1
		) c
		left join device_check_rules r on r.organization_id = $1 and r.check_key = c.check_key
			and ${inForce("r")}
	) k
	left join (
		select
			x.check_key, bool_or(x.is_required) as is_required,
			max(x.new_device_grace_days) * interval '1 day' as new_device_grace,
			jsonb_object_agg(x.policy_id, jsonb_build_object(
				'is_required', x.is_required, 'grace_days', x.grace_days,
				'new_device_grace_days', x.new_device_grace_days
			)) as by_policy
		from device_group_policy_rules x
		where x.organization_id = $1 and ${inForce("x")}
		group by x.check_key
	) g on g.check_key = k.check_key
	where (k.usual_platforms <> '{}' or g.is_required)`;
};

/**
 * Returns an SQL expression for the id of the group's policy that applies to a device, or null if
 * the organization's does. It looks the device up, so it suits statements about few devices.
 *
 * @param device SQL of the device's id
 */
export const policyOf = (device: string, at: string | undefined) =>
	at === undefined
		? `(
			select governed.group_policy_id from devices governed
			where governed.organization_id = $1 and governed.id = ${device}
		)`
		: `(
			select governed.policy_id from device_group_policy_spans governed
			where governed.organization_id = $1 and governed.device_id = ${device}
				and ${covers("governed", at)}
		)`;

/**
 * Returns the same for a statement that reads all devices under an alias: a join, and the column
 * with the policy's id.
 */
export const policyOfAll = (devices: string, at: string | undefined) =>
	at === undefined
		? { join: "", column: `${devices}.group_policy_id` }
		: {
				join: `left join device_group_policy_spans governed on governed.organization_id = $1
					and governed.device_id = ${devices}.id and ${covers("governed", at)}`,
				column: "governed.policy_id",
			};

const covers = (span: string, at: string) =>
	`${span}.since <= ${at} and coalesce(${span}.until > ${at}, true)`;

/** Returns an SQL condition: the policy requires the check `r` on the platform. */
export const isRequired = (policy: string, platform: string) =>
	`coalesce((r.by_policy -> ${policy} ->> 'is_required')::boolean, ${platform} = any(r.usual_platforms))`;

const daysOf = (field: string, usual: string) => (policy: string) =>
	`case when r.by_policy is null then ${usual} else coalesce(
		(r.by_policy -> ${policy} ->> '${field}')::integer * interval '1 day', ${usual}
	) end`;

/** Returns an SQL expression for the grace of the check `r` by the policy. */
export const graceOf = daysOf("grace_days", "r.grace");

/** Returns an SQL expression for the grace of a new device for the check `r` by the policy. */
export const newDeviceGraceOf = daysOf(
	"new_device_grace_days",
	"r.new_device_grace",
);
