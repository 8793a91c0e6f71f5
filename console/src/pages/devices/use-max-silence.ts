import { useQuery } from "@tanstack/react-query";
import { SILENCE_DAYS } from "../../../../src/devices/check-rules.ts";
import { useOrganization } from "../../organization.ts";
import { operationQuery } from "../../queries.ts";

/** Returns the longest silence after which the organization still believes a status. */
export function useMaxSilence(): { maxSilenceMs: number } {
	const { organization } = useOrganization();
	const policy = useQuery(
		operationQuery("getDevicePolicy", { organization_id: organization.id }),
	);
	const days = policy.data?.policy.max_silence_days ?? SILENCE_DAYS.default;
	return { maxSilenceMs: days * 86_400_000 };
}
