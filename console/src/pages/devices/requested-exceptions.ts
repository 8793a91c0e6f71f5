import { useQuery } from "@tanstack/react-query";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import type { InputOf, OutputOf } from "../../api.ts";
import { operationQuery } from "../../queries.ts";
import { isToActOn } from "./check-actions.tsx";
import type { DeviceException } from "./exception-words.tsx";

/**
 * Returns the exceptions that are requested for the device, by the check. A group's request counts
 * as long as the device belongs to the group.
 */
export function useRequestedExceptions({
	id,
	organization_id,
	platform,
	groups,
	postures,
}: OutputOf<"getDevice">["device"]): Map<string, DeviceException> {
	const requested = useQuery({
		...operationQuery("listDeviceExceptions", {
			organization_id,
			filter: { status: "REQUESTED" },
			size: MAX_PAGE_SIZE,
		} as InputOf<"listDeviceExceptions">),
		enabled: postures.some(isToActOn),
	});
	const isForDevice = (exception: DeviceException) => {
		switch (exception.scope) {
			case "DEVICE":
				return exception.device_id === id;
			case "GROUP":
				return groups?.some((group) => group.id === exception.group_id);
			case "PLATFORM":
				return exception.platform === platform;
			default:
				return true;
		}
	};
	return new Map(
		requested.data?.device_exceptions
			.filter(isForDevice)
			.map((exception) => [exception.check_key, exception]),
	);
}
