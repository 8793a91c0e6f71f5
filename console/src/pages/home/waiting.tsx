import { Group } from "@mantine/core";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { Overview } from "./due-work.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/**
 * Lists the documents that wait for the reader's approval or signature and, for administrators, the
 * requested exceptions. Shows nothing without any.
 */
export function Waiting({
	overview: { mine, exceptions_to_decide },
}: {
	overview: Overview;
}) {
	const { organizationId } = useOrganization();
	const documents = mine?.waiting ?? [];
	const exceptions = exceptions_to_decide ?? 0;
	if (documents.length === 0 && exceptions === 0) return null;
	return (
		<Section title="Waiting for you">
			<ul className={styles.rows}>
				{exceptions > 0 && (
					<li className={styles.row}>
						<Group justify="space-between" gap="xs">
							<TextLink
								to="/o/$org/devices/exceptions"
								params={{ org: organizationId }}
								search={{ status: "REQUESTED" }}
								size="sm"
							>
								{exceptions === 1
									? "One exception from a device check"
									: `${exceptions.toLocaleString()} exceptions from device checks`}
							</TextLink>
							<StatusBadge tone="warning" label="To approve" />
						</Group>
					</li>
				)}
				{documents.map((one) => (
					<li key={one.version_id} className={styles.row}>
						<Group justify="space-between" gap="xs">
							<TextLink
								to="/o/$org/r/$kind/$id"
								params={{
									org: organizationId,
									kind: "document",
									id: one.document_id,
								}}
								search={{ show: one.version_id }}
								size="sm"
							>
								{one.title}
							</TextLink>
							<Group gap="xs">
								<PlainText size="xs" c="dimmed">
									Version {one.version_number}
								</PlainText>
								<StatusBadge
									tone="warning"
									label={
										one.waits_for === "APPROVAL"
											? "To approve"
											: "To read and sign"
									}
								/>
							</Group>
						</Group>
					</li>
				))}
			</ul>
		</Section>
	);
}
