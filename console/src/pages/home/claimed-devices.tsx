import { Group, Stack } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { ClaimAnswer } from "../../parts/devices/claim-answer.tsx";
import { nameOrUnnamed } from "../../parts/devices/device-name.ts";
import { platformLabel } from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { DateTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/**
 * Asks the reader about the devices whose installers named them as the owner. Shows nothing without
 * any.
 */
export function ClaimedDevices({ overview: { mine } }: { overview: Overview }) {
	const { organizationId } = useOrganization();
	const devices = mine?.claimed_devices ?? [];
	if (devices.length === 0) return null;
	return (
		<Section
			title={
				devices.length === 1
					? "Is this device yours?"
					: "Are these devices yours?"
			}
		>
			<Stack gap="sm">
				<PlainText size="sm">
					The installer of the agent named you as the owner. Compare the serial
					number before you answer. If a device is yours, you get mails about
					its checks.
				</PlainText>
				<ul className={styles.rows}>
					{devices.map(({ id, name, ...device }) => (
						<li key={id} className={styles.row}>
							<Group justify="space-between" gap="xs">
								<div style={{ minWidth: 0 }}>
									<TextLink
										to="/o/$org/devices/$id"
										params={{ org: organizationId, id }}
										size="sm"
										style={{ overflowWrap: "anywhere" }}
									>
										{nameOrUnnamed(id, name)}
									</TextLink>
									<PlainText
										size="xs"
										c="dimmed"
										style={{ overflowWrap: "anywhere" }}
									>
										{device.platform && `${platformLabel(device.platform)}, `}
										{device.serial_number
											? `serial number ${device.serial_number}`
											: "serial number not known"}
										, enrolled <DateTime value={device.enrolled_at} />
									</PlainText>
								</div>
								<ClaimAnswer id={id} name={nameOrUnnamed(id, name)} />
							</Group>
						</li>
					))}
				</ul>
				{mine?.has_more_claimed_devices && (
					<PlainText size="sm">
						Installers named you for more devices than these. If yours is not
						here, search for its serial number or name among the{" "}
						<TextLink
							to="/o/$org/devices"
							params={{ org: organizationId }}
							search={{ has_claimed_owner: true }}
							size="sm"
						>
							devices with an owner to confirm
						</TextLink>
						, and answer on its page. If you know none of them, tell an
						administrator.
					</PlainText>
				)}
			</Stack>
		</Section>
	);
}
