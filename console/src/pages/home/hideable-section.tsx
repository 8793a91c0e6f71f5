import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { useOrganization } from "../../organization.ts";
import { type HideableList, isHidden, rememberHidden } from "./hidden-lists.ts";
import { Section } from "./home-section.tsx";

/** A section of the home page that the reader can hide for good. */
export function HideableSection({
	title,
	list,
	children,
}: {
	title: string;
	list: HideableList;
	children: ReactNode;
}) {
	const { organizationId } = useOrganization();
	const [isGone, setIsGone] = useState(() => isHidden(list, organizationId));
	if (isGone) return null;
	return (
		<Section
			title={title}
			more={
				<Button
					size="compact-sm"
					variant="subtle"
					onClick={() => {
						rememberHidden(list, organizationId);
						setIsGone(true);
					}}
				>
					Hide
				</Button>
			}
		>
			{children}
		</Section>
	);
}
