"""A dashboard in the browser: one or several studies, watched while they are played.

The server reads ledgers and never writes them; see `metalic.study.reading`. Pages are made on the server from templates
that escape everything, figures are those of reports, and the address of a page holds all of its state. `server` answers
requests, `desk` keeps what was read and drawn, `view` is one study ready to be shown.
"""
