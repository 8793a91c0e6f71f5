import { Group, Text } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

const SHOWN = 7;

/** Lists the checks that have been failing for the longest time. */
export function FailingLongest({
	failing,
	isAnyOnline,
}: {
	failing: Overview["failing_longest"];
	isAnyOnline: boolean;
}) {
	const { organizationId } = useOrganization();
	return (
		<Section title="Failing longest">
			{failing.length === 0 && (
				<Text size="sm" c="dimmed">
					{isAnyOnline
						? "No online device fails a check."
						: "Failing checks of online devices are listed here."}
				</Text>
			)}
			<ul className={styles.rows}>
				{failing.slice(0, SHOWN).map((one) => (
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
		</Section>
	);
}
