import { Text } from "@mantine/core";
import { PageHeader } from "../../parts/page-header.tsx";
import { Card } from "./card.tsx";

export function Page() {
	return (
		<Card>
			<PageHeader title="Set a new password" />
			<Text c="dimmed">This page is being made.</Text>
		</Card>
	);
}
