"""How a group stands at one moment: what people are told on page, terminal, mail and in reports."""
