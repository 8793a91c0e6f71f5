import { Group } from "@mantine/core";
import { MAX_NAMED } from "../../../../src/overview/max-named.ts";
import { useOrganization } from "../../organization.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { namesApart } from "../../parts/devices/device-name.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { ME } from "../../parts/records/reference-picker.tsx";
import { DateTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";

type Failing = NonNullable<Overview["mine"]>["failing_checks"];

/**
 * Lists the required checks that the reader's own devices fail. Those that still have time are one
 * row, so that a new device does not fill the section.
 */
export function OwnFailingChecks({ failing }: { failing: Failing }) {
	const { organizationId } = useOrganization();
	const inGrace = failing.filter((one) => one.in_grace_until);
	const named =
		inGrace.length > 1 ? failing.filter((one) => !one.in_grace_until) : failing;
	const names = namesApart(
		named.map(({ device_id: id, device_name: name }) => ({ id, name })),
	);
	const more = failing.length >= MAX_NAMED ? " or more" : "";
	return (
		<ul className={styles.rows}>
			{named.map(({ device_id, check_key, in_grace_until }) => (
				<li key={`${device_id} ${check_key}`} className={styles.row}>
					<TextLink
						to="/o/$org/devices/$id"
						params={{ org: organizationId, id: device_id }}
						search={{ check: check_key }}
						size="sm"
						style={{ overflowWrap: "anywhere" }}
					>
						{names.get(device_id)}
					</TextLink>
					<Group justify="space-between" gap="0 8px">
						<PlainText size="xs" c="dimmed">
							Fails “{checkLabel(check_key)}”
						</PlainText>
						<FixBy until={in_grace_until} />
					</Group>
				</li>
			))}
			{named !== failing && (
				<li className={styles.row}>
					<TextLink
						to="/o/$org/devices"
						params={{ org: organizationId }}
						search={{ owner: ME, status: "ACTIVE" }}
						size="sm"
					>
						Your devices fail {inGrace.length}
						{more} checks within their grace period
					</TextLink>
					<PlainText size="xs" c="dimmed">
						Fix the first by <DateTime value={inGrace[0]?.in_grace_until} />
					</PlainText>
				</li>
			)}
		</ul>
	);
}

function FixBy({ until }: { until: string | null }) {
	return until ? (
		<PlainText size="xs" c="dimmed">
			Fix it by <DateTime value={until} />
		</PlainText>
	) : (
		<PlainText size="xs" c="var(--mantine-color-error)">
			Fix it now
		</PlainText>
	);
}
