import { AppError } from "../errors.ts";
import type { Context } from "../operation.ts";

/**
 * Throws forbidden if an approved exception counts for the group and the caller is no
 * administrator. The exception would excuse each device that is added, without anybody's approval.
 */
export async function requireMayExcuse(
	{ client, membership }: Context,
	groupId: string,
): Promise<void> {
	if (membership.role === "admin") return;
	const { rowCount } = await client.query(
		`select from device_exceptions
		where organization_id = $1 and group_id = $2 and decision = 'APPROVED' and ends_at > now()
		limit 1`,
		[membership.organizationId, groupId],
	);
	if (rowCount === 0) return;
	throw new AppError(
		"forbidden",
		"permission denied: an approved exception counts for this group, so only an administrator can add devices to it or change its filter",
	);
}

/**
 * Returns whether the group has a device policy. Throws forbidden if it has one and the caller is no
 * administrator, because the policy decides what is required of the devices.
 */
export async function requireMayGovern(
	{ client, membership }: Context,
	groupId: string,
): Promise<boolean> {
	const { rowCount } = await client.query(
		`select from device_group_policies
		where organization_id = $1 and group_id = $2 and priority is not null`,
		[membership.organizationId, groupId],
	);
	if (!rowCount) return false;
	if (membership.role === "admin") return true;
	throw new AppError(
		"forbidden",
		"permission denied: the group has a device policy, so only an administrator can add or remove devices, or change its filter",
	);
}
