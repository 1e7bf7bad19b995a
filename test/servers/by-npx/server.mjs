#!/usr/bin/env node
import '../echo-stdio.mjs';
