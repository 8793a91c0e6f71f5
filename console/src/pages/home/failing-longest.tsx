import { Group, Text } from "@mantine/core";
import { FEW } from "../../../../src/overview/few.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

const SHOWN = 7;

type Failure = Overview["failing_longest"][number];

/** Lists the checks that have been failing for the longest time. */
export function FailingLongest({
	failing,
	isAnyOnline,
}: {
	failing: readonly Failure[];
	isAnyOnline: boolean;
}) {
	return (
		<Section
			title="Failing longest"
			none={
				failing.length > 0
					? undefined
					: isAnyOnline
						? "No online device fails a check."
						: "Failing checks of online devices are listed here."
			}
		>
			<Failures failing={failing.slice(0, SHOWN)} />
		</Section>
	);
}

/** Lists the latest checks that began to fail within the last day. */
export function NewlyFailing({ failing }: { failing: readonly Failure[] }) {
	return (
		<Section
			title="Began to fail since yesterday"
			none={failing.length > 0 ? undefined : "No check of an online device."}
		>
			<Failures failing={failing} />
			{failing.length >= FEW && (
				<Text size="sm" c="dimmed" mt="xs">
					These are the latest {FEW}. Older ones may be missing here.
				</Text>
			)}
		</Section>
	);
}

function Failures({ failing }: { failing: readonly Failure[] }) {
	const { organizationId } = useOrganization();
	return (
		<ul className={styles.rows}>
			{failing.map((one) => (
				<li key={`${one.device_id} ${one.check_key}`} className={styles.row}>
					<Group justify="space-between" gap="xs" wrap="nowrap">
						<TextLink
							to="/o/$org/devices/$id"
							params={{ org: organizationId, id: one.device_id }}
							search={{ check: one.check_key }}
							size="sm"
							truncate
						>
							{one.device_name ?? "Unnamed device"}
						</TextLink>
						<Text size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
							<RelativeTime value={one.since} />
						</Text>
					</Group>
					<Text size="sm" c="dimmed" truncate>
						{one.check_name ?? one.check_key}
					</Text>
				</li>
			))}
		</ul>
	);
}
