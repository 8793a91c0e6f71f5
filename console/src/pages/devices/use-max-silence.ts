import { useQuery } from "@tanstack/react-query";
import { SILENCE_DAYS } from "../../../../src/devices/check-rules.ts";
import { DAY_MS } from "../../../../src/units.ts";
import { useOrganization } from "../../organization.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { operationQuery } from "../../queries.ts";

/** Returns the longest silence after which the policy of a device still believes a status. */
export function useMaxSilence({ group_policies }: Device): {
	maxSilenceMs: number;
} {
	const { organization } = useOrganization();
	const policy = useQuery(
		operationQuery("getDevicePolicy", { organization_id: organization.id }),
	);
	const ofGroup = group_policies?.find(({ applies }) => applies);
	const days =
		ofGroup?.max_silence_days ??
		policy.data?.policy.max_silence_days ??
		SILENCE_DAYS.default;
	return { maxSilenceMs: days * DAY_MS };
}
