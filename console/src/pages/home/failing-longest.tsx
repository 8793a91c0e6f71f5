import { Group, Text } from "@mantine/core";
import { MAX_NAMED } from "../../../../src/overview/max-named.ts";
import { useOrganization } from "../../organization.ts";
import { dayAfter, todayHere } from "../../parts/days.ts";
import { namesApart } from "../../parts/devices/device-name.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
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
						? "No online device fails a check without an exception."
						: "Failing checks of online devices are listed here."
			}
		>
			<Failures failing={failing.slice(0, SHOWN)} />
		</Section>
	);
}

/** Lists the latest checks that began to fail within the last day. */
export function NewlyFailing({ failing }: { failing: readonly Failure[] }) {
	const { organizationId } = useOrganization();
	return (
		<Section
			title="Began to fail since yesterday"
			none={failing.length > 0 ? undefined : "No check of an online device."}
		>
			<Failures failing={failing} />
			{failing.length >= MAX_NAMED && (
				<Text size="sm" c="dimmed" mt="xs">
					These are the latest {MAX_NAMED} checks.{" "}
					<TextLink
						to="/o/$org/devices/period"
						params={{ org: organizationId }}
						search={{ from: dayAfter(todayHere(), -1) }}
						inherit
						underline="always"
					>
						Fleet in a period
					</TextLink>{" "}
					has all of them, one check at a time.
				</Text>
			)}
		</Section>
	);
}

/**
 * Names each device once, with its checks. The latest comes first. The list may be cut within a
 * device, so it does not say how many checks a device fails.
 */
function Failures({ failing }: { failing: readonly Failure[] }) {
	const { organizationId } = useOrganization();
	const devices = Map.groupBy(failing, ({ device_id }) => device_id);
	const deviceNames = namesApart(
		failing.map(({ device_id: id, device_name: name }) => ({ id, name })),
	);
	return (
		<ul className={styles.rows}>
			{[...devices].map(([id, checks]) => {
				const [first] = checks;
				const names = checks.map(
					({ check_name, check_key }) => check_name ?? check_key,
				);
				return (
					<li key={id} className={styles.row}>
						<Group justify="space-between" gap="xs" wrap="nowrap">
							<TextLink
								to="/o/$org/devices/$id"
								params={{ org: organizationId, id }}
								search={
									checks.length === 1 && first ? { check: first.check_key } : {}
								}
								size="sm"
								style={{ overflowWrap: "anywhere" }}
							>
								{deviceNames.get(id)}
							</TextLink>
							<PlainText size="xs" c="dimmed" style={{ whiteSpace: "nowrap" }}>
								{first && <RelativeTime value={first.since} />}
							</PlainText>
						</Group>
						<PlainText size="sm" c="dimmed" lineClamp={2}>
							{names.join(", ")}
						</PlainText>
					</li>
				);
			})}
		</ul>
	);
}
