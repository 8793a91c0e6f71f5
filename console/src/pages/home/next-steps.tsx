import { Box, Group } from "@mantine/core";
import { type LinkOptions, linkOptions } from "@tanstack/react-router";
import { useOrganization } from "../../organization.ts";
import { ButtonLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { HideableSection } from "./hideable-section.tsx";
import styles from "./home.module.css";

/**
 * Says what comes next in an organization whose first steps are over, and which has neither a
 * framework nor a risk. The reader can hide it.
 */
export default function NextSteps({ hasDevices }: { hasDevices: boolean }) {
	const { organizationId: org, mayWrite, mayAdmin } = useOrganization();
	if (!mayWrite) return null;
	return (
		<HideableSection title="What comes next" list="next-steps">
			<ol className={styles.rows}>
				{stepsOf(org, mayAdmin && !hasDevices).map(
					({ title, why, action, link }) => (
						<li key={title} className={styles.row}>
							<Group gap="sm" align="flex-start">
								<Box flex="1 1 240px">
									<PlainText fw={500}>{title}</PlainText>
									<PlainText size="sm" c="dimmed">
										{why}
									</PlainText>
								</Box>
								<ButtonLink {...link} size="xs" variant="default">
									{action}
								</ButtonLink>
							</Group>
						</li>
					),
				)}
			</ol>
		</HideableSection>
	);
}

interface Step {
	title: string;
	why: string;
	/** Text of the button. */
	action: string;
	link: LinkOptions;
}

function stepsOf(org: string, mayEnroll: boolean): Step[] {
	const steps: Step[] = [
		{
			title: "Choose a framework",
			why: "It brings its controls, and measures and risks to take or leave. Home then shows how far measures cover it.",
			action: "Choose a framework",
			link: linkOptions({
				to: "/o/$org/first-steps",
				params: { org },
				search: { step: "RECORDS" },
			}),
		},
		{
			title: "Or begin with a risk of your own",
			why: "Say what could happen, how likely it is and who owns it. The risk matrix begins with it.",
			action: "Add a risk",
			link: linkOptions({
				to: "/o/$org/r/$kind/new",
				params: { org, kind: "risk" },
			}),
		},
		{
			title: "Bring what you have",
			why: "Each register takes an Excel or CSV file, and shows first what would change: vendors, assets, people and all others.",
			action: "Import assets",
			link: linkOptions({
				to: "/o/$org/r/$kind/import",
				params: { org, kind: "asset" },
			}),
		},
	];
	if (mayEnroll) {
		steps.push({
			title: "Enroll a device",
			why: "It reports its checks. Home then shows how many devices pass each one.",
			action: "Enroll a device",
			link: linkOptions({
				to: "/o/$org/first-steps",
				params: { org },
				search: { step: "DEVICE" },
			}),
		});
	}
	return steps;
}
