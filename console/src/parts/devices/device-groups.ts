import { useQuery } from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { call, type OutputOf } from "../../api.ts";

export type DeviceGroup = OutputOf<"listDeviceGroups">["device_groups"][number];

/** The part of the page of the device policy that lists the policies of groups. */
export const POLICIES = "groups";

/** Maximum number of options that a list shows at once. Typing finds the others. */
export const SHOWN_OPTIONS = 100;

/** Returns all groups of the organization by name, or an empty list until they are loaded. */
export function useDeviceGroups(
	organizationId: string,
	options: { enabled?: boolean } = {},
): DeviceGroup[] {
	return useLoadedGroups(organizationId, options) ?? [];
}

/**
 * Returns all groups of the organization by name, or undefined until they are loaded. An
 * organization has at most 500 groups, so they fill few pages.
 */
export function useLoadedGroups(
	organizationId: string,
	{ enabled = true }: { enabled?: boolean } = {},
): DeviceGroup[] | undefined {
	const { data } = useQuery({
		queryKey: ["listDeviceGroups", "all", organizationId],
		queryFn: async ({ signal }) => {
			const found: DeviceGroup[] = [];
			let cursor: string | null = null;
			do {
				const page: OutputOf<"listDeviceGroups"> = await call(
					"listDeviceGroups",
					{
						organization_id: organizationId,
						order_by: { field: "name" },
						size: MAX_PAGE_SIZE,
						cursor,
					},
					{ signal },
				);
				found.push(...page.device_groups);
				cursor = page.next_cursor;
			} while (cursor !== null);
			return found;
		},
		enabled,
	});
	return data;
}

/** Returns the properties of a picker of groups. Typing searches all of them. */
export function groupOptions(groups: readonly DeviceGroup[]) {
	return {
		searchable: true,
		limit: SHOWN_OPTIONS,
		nothingFoundMessage: "No group matches",
		data: groups.map(({ id, name }) => ({ value: id, label: name })),
	};
}
