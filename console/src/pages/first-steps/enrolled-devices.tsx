import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ChecksInWords } from "../../parts/devices/checks-in-words.tsx";
import { countDevices, deviceName } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";

const SHOWN = 5;
const EVERY_MS = 5_000;

/** Lists the active devices that were added last, with what each has reported. */
export function EnrolledDevices({ count }: { count: number }) {
	const { organizationId: org } = useOrganization();
	const { data, isError, error, refetch } = useQuery({
		...operationQuery("listDevices", {
			organization_id: org,
			size: SHOWN,
			filter: { status: "ACTIVE" },
		} as InputOf<"listDevices">),
		refetchInterval: EVERY_MS,
	});
	if (!data) {
		if (isError) return <ErrorState error={error} onRetry={refetch} />;
		return <RowsSkeleton rows={2} />;
	}
	return (
		<Stack gap="sm">
			<Stack component="ul" gap="sm" p={0} m={0} aria-label="Enrolled devices">
				{data.devices.map((device) => (
					<li key={device.id} style={{ listStyle: "none" }}>
						<TextLink
							to="/o/$org/devices/$id"
							params={{ org, id: device.id }}
							fw={500}
							style={{ overflowWrap: "anywhere" }}
						>
							{deviceName(device)}
						</TextLink>
						<Text size="sm" c="dimmed">
							{device.postures.length > 0 ? (
								<>
									Last report <RelativeTime value={device.last_reported_at} />.{" "}
									<ChecksInWords postures={device.postures} />
								</>
							) : (
								"Enrolled. Its first report has not arrived yet."
							)}
						</Text>
					</li>
				))}
			</Stack>
			{count > SHOWN && (
				<TextLink
					to="/o/$org/devices"
					params={{ org }}
					search={{ status: "ACTIVE" }}
					size="sm"
				>
					All {countDevices(count)}
				</TextLink>
			)}
		</Stack>
	);
}
