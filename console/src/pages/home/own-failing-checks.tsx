import { Group, Text } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { TextLink } from "../../parts/links.tsx";
import { DateTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";

/** Lists the required checks that the reader's own devices fail, and until when each has grace. */
export function OwnFailingChecks({
	failing,
}: {
	failing: NonNullable<Overview["mine"]>["failing_checks"];
}) {
	const { organizationId } = useOrganization();
	return (
		<ul className={styles.rows}>
			{failing.map(({ device_id, device_name, check_key, in_grace_until }) => (
				<li key={`${device_id} ${check_key}`} className={styles.row}>
					<TextLink
						to="/o/$org/devices/$id"
						params={{ org: organizationId, id: device_id }}
						search={{ check: check_key }}
						size="sm"
						style={{ overflowWrap: "anywhere" }}
					>
						{device_name ?? "Unnamed device"}
					</TextLink>
					<Group justify="space-between" gap="0 8px">
						<Text size="xs" c="dimmed">
							Fails “{checkLabel(check_key)}”
						</Text>
						{in_grace_until ? (
							<Text size="xs" c="dimmed">
								Fix it by <DateTime value={in_grace_until} />
							</Text>
						) : (
							<Text size="xs" c="var(--mantine-color-error)">
								Fix it now
							</Text>
						)}
					</Group>
				</li>
			))}
		</ul>
	);
}
