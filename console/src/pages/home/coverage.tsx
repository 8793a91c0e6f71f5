import { Group, Progress, Text } from "@mantine/core";
import { percentOf } from "../../../../src/units.ts";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { TextLink } from "../../parts/links.tsx";
import { percentInWords, ROUNDED } from "../../parts/percent.ts";
import { PlainText } from "../../parts/plain-text.tsx";
import styles from "./home.module.css";
import { Section } from "./home-section.tsx";

/** Shows how many controls of each framework implemented measures cover. */
export function Coverage({ coverage }: OutputOf<"getCoverages">) {
	const { organizationId, mayWriteKind } = useOrganization();
	return (
		<Section
			title="Coverage"
			none={
				coverage.length > 0 ? undefined : (
					<>
						Add a framework and its controls to see how far measures cover them.{" "}
						{mayWriteKind("framework") && (
							<TextLink
								to="/o/$org/first-steps"
								params={{ org: organizationId }}
								search={{ step: "RECORDS" }}
								inherit
								underline="always"
							>
								Choose a framework
							</TextLink>
						)}
					</>
				)
			}
		>
			<ul className={styles.rows}>
				{coverage.map(({ framework_id: id, name, ...counts }) => {
					const { included, covered, partly_covered } = counts;
					const percent = percentOf(covered, included);
					return (
						<li key={id} className={styles.row}>
							<Group justify="space-between" gap="xs" wrap="nowrap" mb={4}>
								<TextLink
									to="/o/$org/r/$kind/$id"
									params={{ org: organizationId, kind: "framework", id }}
									size="sm"
									truncate
								>
									{name}
								</TextLink>
								<PlainText size="sm" fw={600} title={ROUNDED}>
									{percent === null ? "No controls" : percentInWords(percent)}
								</PlainText>
							</Group>
							<Progress
								value={percent ?? 0}
								color="green.7"
								size={6}
								aria-hidden
							/>
							<Text size="xs" c="dimmed" mt={4}>
								{covered.toLocaleString()} of {included.toLocaleString()}{" "}
								controls covered
								{partly_covered > 0 &&
									`, ${partly_covered.toLocaleString()} more partly`}
							</Text>
						</li>
					);
				})}
			</ul>
		</Section>
	);
}
